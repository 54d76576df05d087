import { describe, expect, test } from '@jest/globals'
import { leafCategoryFor } from '../src/releases/leaf-category.ts'
import { parseReleaseName } from '../src/releases/release-name.ts'
import { CATALOGUE, SEARCH_CASES, SITE } from './data/search-quality.ts'

// Checks the data of the search tests, which was labelled by hand.

/** Anime with scene names, which do not identify it as anime. */
const CHOSEN_BY_UPLOADERS: ReadonlySet<string> = new Set(['lanterns/s01e07/web', 'voyage/s21e40'])

describe('the catalogue', () => {
  test('has about four hundred releases, each key and name once', () => {
    expect(CATALOGUE.length).toBeGreaterThanOrEqual(400)
    for (const field of ['key', 'name'] as const) {
      expect(new Set(CATALOGUE.map((entry) => entry[field])).size).toBe(CATALOGUE.length)
    }
  })

  const derived = CATALOGUE.filter(({ key }) => !CHOSEN_BY_UPLOADERS.has(key))

  test.each(derived.map(({ name, category }) => [name, category] as const))(
    '%s uploaded to a root lands in %s',
    (name, slug) => {
      const category = SITE.find(({ id }) => id === slug)
      const root = SITE.find(({ id }) => id === (category?.parentId ?? slug))
      if (category === undefined || root === undefined) throw new Error(`no such category: ${slug}`)
      const children = SITE.filter(({ parentId }) => parentId === root.id)
      expect(leafCategoryFor(parseReleaseName(name), root, children).id).toBe(slug)
    },
  )
})

describe('the queries', () => {
  test('are at least two hundred, some of each tool', () => {
    expect(SEARCH_CASES.length).toBeGreaterThanOrEqual(200)
    const tools = ['sonarr', 'radarr', 'lidarr', 'readarr', 'prowlarr', 'jackett', 'cross-seed', 'autobrr', 'flexget']
    const clients = new Set(SEARCH_CASES.map(({ client }) => client))
    expect([...clients]).toEqual(expect.arrayContaining([...tools, 'member']))
  })

  test('each answer fits on one page', () => {
    for (const { client, query, returns } of SEARCH_CASES) {
      const limit = Number(new URLSearchParams(query).get('limit') ?? 25)
      expect([query, returns.length <= (client === 'member' ? 100 : limit)]).toEqual([query, true])
    }
  })

  test('suggestions are expected only for queries without results', () => {
    const suggesting = SEARCH_CASES.filter(({ suggests }) => suggests.length > 0)
    expect(suggesting.length).toBeGreaterThanOrEqual(5)
    for (const { client, returns } of suggesting) expect([client, returns]).toEqual(['member', []])
  })
})
