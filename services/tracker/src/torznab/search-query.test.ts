import { expect, test } from '@jest/globals'
import { parseTorznabQuery } from '@vault-and-tracker/torznab-xml'
import type { Marks } from '../search/criteria.ts'
import type { SearchQuery } from '../search/queries.ts'
import { SUPPORTED_PARAMETERS, toSearchQuery } from './search-query.ts'

const CATEGORIES = [
  { id: 'films', parentId: null, torznabId: 2000, name: 'Movies' },
  { id: 'films-hd', parentId: 'films', torznabId: 2040, name: 'HD' },
  { id: 'series', parentId: null, torznabId: 5000, name: 'TV' },
]
const NOW = Date.parse('2026-05-31T12:00:00Z')

function wantedBy(rawQuery: string, isAllFree = false): SearchQuery | undefined {
  const request = parseTorznabQuery(`apikey=k&${rawQuery}`, {
    supported: SUPPORTED_PARAMETERS,
    limits: { default: 25, max: 100 },
  })
  if (!request.ok || request.query.function === 'caps' || request.query.function === 'details')
    throw new Error(`not a search: ${rawQuery}`)
  return toSearchQuery(request.query, { categories: CATEGORIES, isAllFree, now: NOW })
}

test.each([
  't=tvsearch&q=Show&rid=5',
  't=tvsearch&q=Show&year=2020',
  't=movie&genre=Drama',
  't=search&tvdbid=1',
  't=search&cat=7000',
  't=search&cat=99999',
  't=search&tag=trusted',
  't=search&tag=scene,trusted',
  't=search&tag=internal,-internal',
  't=search&tag=freeleech,-freeleech',
])('nothing can fulfil %s', (rawQuery) => {
  expect(wantedBy(rawQuery)).toBeUndefined()
})

test('any id is enough, and the number of TMDB counts within the kind of search', () => {
  expect(wantedBy('t=tvsearch&tvdbid=1&imdbid=tt0000002&tmdbid=3')?.ids).toEqual({
    ...{ tvdb: 1, imdb: 2, tmdb: 3 },
    tmdbCategoryIds: ['series'],
  })
  expect(wantedBy('t=movie&tmdbid=3')?.ids).toMatchObject({ tmdb: 3, tmdbCategoryIds: ['films', 'films-hd'] })
  expect(wantedBy('t=movie&imdbid=0000002')?.ids).toMatchObject({ imdb: 2, tmdbCategoryIds: undefined })
})

test.each([
  ['t=search', {}],
  ['t=search&tag=freeleech', { freeleech: true }],
  ['t=movie&tag=Freeleech', { freeleech: true }],
  ['t=search&tag=-freeleech', { freeleech: false }],
  ['t=search&tag=internal,-scene', { internal: true, scene: false }],
  ['t=search&tag=scene&tag=freeleech', { freeleech: true, scene: true }],
  ['t=search&tag=-trusted', {}],
])('%s wants %o', (rawQuery, { freeleech, internal, scene }: Marks) => {
  expect(wantedBy(rawQuery)).toMatchObject({ freeleech, internal, scene })
})

test('on a freeleech site, every torrent is freeleech', () => {
  expect(wantedBy('t=search&tag=freeleech,scene', true)).not.toMatchObject({ freeleech: true })
  expect(wantedBy('t=search&tag=-freeleech', true)).toBeUndefined()
})

test('an age reaches back to 1970 at most', () => {
  expect(wantedBy('t=search&maxage=2')?.createdAfter).toEqual(new Date('2026-05-29T12:00:00Z'))
  expect(wantedBy('t=search&maxage=9007199254740991')?.createdAfter).toEqual(new Date(0))
  expect(wantedBy('t=search&maxage=0')?.createdAfter).toBeUndefined()
})
