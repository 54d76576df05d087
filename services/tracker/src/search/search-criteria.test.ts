import { expect, test } from '@jest/globals'
import { parseTorznabQuery } from '@vault-and-tracker/torznab-xml'
import { criteriaOf, type SearchCriteria } from './search-criteria.ts'
import { SUPPORTED_PARAMETERS } from './supported-parameters.ts'

function criteria(rawQuery: string): SearchCriteria | undefined {
  const request = parseTorznabQuery(`apikey=k&${rawQuery}`, {
    supported: SUPPORTED_PARAMETERS,
    limits: { default: 25, max: 100 },
  })
  if (!request.ok || request.query.function === 'caps' || request.query.function === 'details') {
    throw new Error(`not a search: ${rawQuery}`)
  }
  return criteriaOf(request.query)
}

test.each([
  ['t=search', []],
  ['t=search&q=The+Harbour+Watch', ['harbour', 'watch']],
  ['t=music&artist=The+Band&album=The+Record', ['band', 'record']],
  ['t=music&q=&artist=The+The&album=Soul', ['the', 'soul']],
  ['t=book&author=Jane+Writer&title=Long+Road', ['jane', 'writer', 'long', 'road']],
  ['t=search&q=Show+1x05', ['show', 's01e05']],
])('%s asks for the words %j', (rawQuery, words) => {
  expect(criteria(rawQuery)?.words).toEqual(words)
})

test.each(['t=search&q=!!!', 't=tvsearch&q=Show&rid=5', 't=movie&genre=Drama', 't=music&artist=Band&album=%3F'])(
  'nothing can fulfil %s',
  (rawQuery) => {
    expect(criteria(rawQuery)).toBeUndefined()
  },
)

test('ids are together, and the number of TMDB belongs to the kind of search', () => {
  expect(criteria('t=tvsearch&tvdbid=1&imdbid=tt0000002&tmdbid=3')?.ids).toEqual({
    tvdb: 1,
    imdb: 2,
    tmdb: 3,
    tmdbFamily: 5000,
  })
  expect(criteria('t=movie&imdbid=0000002')?.ids).toEqual({
    imdb: 2,
    tvdb: undefined,
    tmdb: undefined,
    tmdbFamily: 2000,
  })
  expect(criteria('t=movie&q=x')?.ids).toBeUndefined()
})
