import { describe, expect, test } from '@jest/globals'
import {
  capsCategories,
  coveredCategories,
  familyOfId,
  itemCategories,
  type SiteCategory,
  torznabIdOfSlug,
} from '../src/index.ts'
import { SITE } from './support/samples.ts'

const covered = (requested: readonly number[], site = SITE) =>
  coveredCategories(requested, site).map(({ torznabId }) => torznabId)

describe('requested ids cover', () => {
  test.each([
    ['a family and its parts', [5000], [5000, 5040, 5045, 5030, 5070, 5080]],
    ['a part alone', [5040], [5040]],
    ['several, each once', [2040, 2000, 2040], [2000, 2040, 2045, 2030, 2050]],
    ['consoles, wherever the tree has them', [1000], [1000, 1180, 1040]],
    ['games, by the tree', [4050], [4050, 4050, 1000, 1180, 1040]],
    [
      'all of PC, by number, and what the tree has below its games',
      [4000],
      [4050, 4050, 1000, 1180, 1040, 4000, 4020, 4030],
    ],
    ['only what is known', [5070, 1234, 99_999, 200_000], [5070]],
    ['nothing, when none is known', [1234, 0, Number.MAX_SAFE_INTEGER], []],
  ])('%s', (_name, requested, expected) => {
    expect(covered(requested)).toEqual(expected)
  })

  const custom: readonly SiteCategory[] = [
    { id: 'a', parentId: null, torznabId: 100_000, name: 'Maps' },
    { id: 'b', parentId: 'a', torznabId: 100_500, name: 'Sea' },
    { id: 'c', parentId: 'b', torznabId: 7030, name: 'Charts' },
    { id: 'd', parentId: null, torznabId: 100_900, name: 'Globes' },
  ]

  test("a site's own ids by the tree, through all levels, and not by number", () => {
    expect(covered([100_000], custom)).toEqual([100_000, 100_500, 7030])
  })

  test('a subcategory by its family, even if the site lacks the family', () => {
    expect(covered([7000], custom)).toEqual([7030])
  })

  test('a cyclic tree, without looping', () => {
    const circle = [
      { id: 'a', parentId: 'b', torznabId: 1, name: 'A' },
      { id: 'b', parentId: 'a', torznabId: 2, name: 'B' },
    ]
    expect(covered([1], circle)).toEqual([1, 2])
    expect(itemCategories('a', circle)).toEqual([1, 2])
    expect(capsCategories(circle)).toEqual([])
  })
})

describe('an item is in', () => {
  test.each([
    ['tv/HD', [5040, 5000]],
    ['tv', [5000]],
    ['games/PC', [4050, 4000]],
    ['games/PlayStation', [1180, 4050, 1000]],
    ['gone', []],
  ])('%s: %j', (id, expected) => {
    expect(itemCategories(id, SITE)).toEqual(expected)
  })

  test('categories that caps lists, at any level', () => {
    const shown = capsCategories(SITE).flatMap(({ id, subcategories }) => [id, ...subcategories.map((sub) => sub.id)])
    for (const { id } of SITE) expect(shown).toEqual(expect.arrayContaining([...itemCategories(id, SITE)]))
  })
})

test('caps lists an id that is both root and child once, as a root', () => {
  const games = capsCategories(SITE).find(({ id }) => id === 4050)
  expect(games).toEqual({
    id: 4050,
    name: 'Games',
    subcategories: [
      { id: 1000, name: 'Console' },
      { id: 1180, name: 'PlayStation' },
      { id: 1040, name: 'Xbox' },
    ],
  })
})

test('caps lists deeper levels below their root', () => {
  const deep = [
    { id: 'a', parentId: null, torznabId: 8000, name: 'A' },
    { id: 'b', parentId: 'a', torznabId: 8010, name: 'B' },
    { id: 'c', parentId: 'b', torznabId: 8020, name: 'C' },
  ]
  expect(capsCategories(deep)).toEqual([
    {
      id: 8000,
      name: 'A',
      subcategories: [
        { id: 8010, name: 'B' },
        { id: 8020, name: 'C' },
      ],
    },
  ])
})

describe('the standard', () => {
  test.each([
    [5040, 5000],
    [5000, 5000],
    [99_999, 99_000],
    [100_000, undefined],
    [123_456, undefined],
  ])('the family of %i is %p', (id, family) => {
    expect(familyOfId(id)).toBe(family)
  })

  test.each([
    ['movies-4k', 2045],
    ['anime', 5070],
    ['music', 3000],
    ['games-pc', 4050],
    ['constructor', undefined],
    ['maps', undefined],
  ])('the slug %s usually has %p', (slug, id) => {
    expect(torznabIdOfSlug(slug)).toBe(id)
  })
})
