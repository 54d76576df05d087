import { describe, expect, test } from '@jest/globals'
import { parseTorznabQuery, type SearchQuery, type TorznabRequest } from '../src/index.ts'
import { SUPPORTED } from './support/samples.ts'

const LIMITS = { default: 25, max: 100 }
const parse = (rawQuery: string): TorznabRequest =>
  parseTorznabQuery(rawQuery, { supported: SUPPORTED, limits: LIMITS })

/** The search that a query string with a key asks for. */
function search(rawQuery: string): SearchQuery {
  const request = parse(`apikey=k&${rawQuery}`)
  if (!request.ok || request.query.function === 'caps' || request.query.function === 'details') {
    throw new Error(`refused: ${JSON.stringify(request)}`)
  }
  return request.query
}

function refusal(rawQuery: string): string | undefined {
  const request = parse(rawQuery)
  return request.ok ? undefined : `${request.error.code} ${request.error.description}`
}

describe('key and function', () => {
  test.each([
    ['t=caps', 'caps', undefined, 'xml'],
    ['?t=caps&apikey=anything&limit=junk', 'caps', 'anything', 'xml'],
    ['t=search&apikey=KEY', 'search', 'KEY', 'xml'],
    ['T=TvSearch&ApiKey=KEY&O=JSON', 'tvsearch', 'KEY', 'json'],
    ['t=search&passkey=KEY', 'search', 'KEY', 'xml'],
    ['t=search&apikey=&passkey=KEY', 'search', 'KEY', 'xml'],
    ['t=search&apikey=FIRST&apikey=SECOND', 'search', 'FIRST', 'xml'],
    ['t=search&apikey=%00', 'search', '', 'xml'],
    ['t=search&apikey=%00&passkey=KEY', 'search', 'KEY', 'xml'],
  ])('%s', (rawQuery, name, apiKey, format) => {
    expect(parse(rawQuery)).toMatchObject({ ok: true, function: name, apiKey, format })
  })

  test('is returned even if the rest is refused', () => {
    expect(parse('t=search&apikey=KEY&cat=junk&o=json')).toMatchObject({
      ok: false,
      function: 'search',
      apiKey: 'KEY',
      format: 'json',
    })
    expect(parse('apikey=KEY&t=nothing')).toMatchObject({ ok: false, function: undefined, apiKey: 'KEY' })
  })

  test('an item is asked for by its info hash', () => {
    expect(parse(`t=details&apikey=k&id=${'AB'.repeat(20)}`)).toMatchObject({
      ok: true,
      query: { function: 'details', infoHash: 'ab'.repeat(20) },
    })
  })
})

describe('refused', () => {
  test.each([
    ['', '200 Missing parameter: t'],
    ['t=&apikey=k', '200 Missing parameter: t'],
    ['t=register&apikey=k', '300 No such function'],
    ['t=constructor', '300 No such function'],
    ['t=search', '200 Missing parameter: apikey'],
    ['t=search&apikey=%20', '200 Missing parameter: apikey'],
    ['t=details&apikey=k', '200 Missing parameter: id'],
    ['t=details&apikey=k&id=42', '201 Incorrect parameter: id'],
    ['t=search&apikey=k&o=yaml', '201 Incorrect parameter: o'],
    ['t=search&apikey=k&cat=tv', '201 Incorrect parameter: cat'],
    ['t=search&apikey=k&cat=5000;5040', '201 Incorrect parameter: cat'],
    ['t=search&apikey=k&cat=-5000', '201 Incorrect parameter: cat'],
    ['t=search&apikey=k&limit=-1', '201 Incorrect parameter: limit'],
    ['t=search&apikey=k&limit=ten', '201 Incorrect parameter: limit'],
    ['t=search&apikey=k&limit=1e2', '201 Incorrect parameter: limit'],
    ['t=search&apikey=k&offset=1.5', '201 Incorrect parameter: offset'],
    ['t=search&apikey=k&offset=NaN', '201 Incorrect parameter: offset'],
    ['t=search&apikey=k&extended=maybe', '201 Incorrect parameter: extended'],
    ['t=search&apikey=k&attrs=a%20b', '201 Incorrect parameter: attrs'],
    ['t=search&apikey=k&tag=-', '201 Incorrect parameter: tag'],
    ['t=search&apikey=k&maxage=old', '201 Incorrect parameter: maxage'],
    ['t=tvsearch&apikey=k&season=one', '201 Incorrect parameter: season'],
    ['t=tvsearch&apikey=k&season=3-1', '201 Incorrect parameter: season'],
    ['t=tvsearch&apikey=k&season=S', '201 Incorrect parameter: season'],
    ['t=tvsearch&apikey=k&season=1&ep=S01E05', '201 Incorrect parameter: ep'],
    ['t=tvsearch&apikey=k&ep=05/31', '201 Incorrect parameter: ep'],
    ['t=tvsearch&apikey=k&season=1&ep=05/31', '201 Incorrect parameter: ep'],
    ['t=tvsearch&apikey=k&season=2023&ep=02/29', '201 Incorrect parameter: ep'],
    ['t=tvsearch&apikey=k&season=2024&ep=13/01', '201 Incorrect parameter: ep'],
    ['t=movie&apikey=k&imdbid=nm0000001', '201 Incorrect parameter: imdbid'],
    ['t=movie&apikey=k&imdbid=tt2147483648', '201 Incorrect parameter: imdbid'],
    ['t=movie&apikey=k&imdbid=tt00000000001', '201 Incorrect parameter: imdbid'],
    ['t=movie&apikey=k&tmdbid=99999999999', '201 Incorrect parameter: tmdbid'],
    ['t=movie&apikey=k&year=99', '201 Incorrect parameter: year'],
    ['t=movie&apikey=k&limit=x&year=99', '201 Incorrect parameter: limit'],
  ])('%s: %s', (rawQuery, expected) => {
    expect(refusal(rawQuery)).toBe(expected)
  })
})

describe('paging', () => {
  test.each([
    ['', 25, 0],
    ['limit=&offset=', 25, 0],
    ['limit=10&offset=20', 10, 20],
    ['limit=0', 0, 0],
    ['limit=1000', 100, 0],
    [`limit=${'9'.repeat(400)}&offset=${'9'.repeat(400)}`, 100, Number.MAX_SAFE_INTEGER],
    ['limit=+7', 7, 0],
  ])('%s: %i from %i', (rawQuery, limit, offset) => {
    expect(search(`t=search&${rawQuery}`)).toMatchObject({ limit, offset })
  })
})

describe('categories', () => {
  test.each([
    ['', undefined],
    ['cat=', undefined],
    ['cat=,', undefined],
    ['cat=5000', [5000]],
    ['cat=5030,5040', [5030, 5040]],
    ['cat=5030, 5040,', [5030, 5040]],
    ['cat=5030%2C5040', [5030, 5040]],
    ['cat=2000&cat=5000&CAT=2000', [2000, 5000]],
    ['cat=0', [0]],
    [`cat=${'9'.repeat(400)}`, [Number.MAX_SAFE_INTEGER]],
  ])('%s', (rawQuery, categories) => {
    expect(search(`t=search&${rawQuery}`).categories).toEqual(categories)
  })
})

describe('seasons and episodes', () => {
  const one = (number: number) => ({ from: number, to: number })
  test.each([
    ['', undefined],
    ['season=&ep=', undefined],
    ['season=1', { kind: 'season', season: one(1) }],
    ['season=S01', { kind: 'season', season: one(1) }],
    ['season=s1', { kind: 'season', season: one(1) }],
    ['season=00', { kind: 'season', season: one(0) }],
    ['season=0', { kind: 'season', season: one(0) }],
    ['season=2024', { kind: 'season', season: one(2024) }],
    ['season=S01-S03', { kind: 'season', season: { from: 1, to: 3 } }],
    ['season=1-3', { kind: 'season', season: { from: 1, to: 3 } }],
    ['season=1&ep=5', { kind: 'episode', season: one(1), episode: one(5) }],
    ['season=S01&ep=E05', { kind: 'episode', season: one(1), episode: one(5) }],
    ['season=01&ep=05', { kind: 'episode', season: one(1), episode: one(5) }],
    ['season=0&ep=0', { kind: 'episode', season: one(0), episode: one(0) }],
    ['season=1&ep=E05-E07', { kind: 'episode', season: one(1), episode: { from: 5, to: 7 } }],
    ['season=1&ep=5-7', { kind: 'episode', season: one(1), episode: { from: 5, to: 7 } }],
    ['season=1&ep=E05E06', { kind: 'episode', season: one(1), episode: { from: 5, to: 6 } }],
    ['ep=1043', { kind: 'episode', season: undefined, episode: one(1043) }],
    ['season=2024&ep=05/31', { kind: 'airDate', date: '2024-05-31' }],
    ['season=2024&ep=05%2F31', { kind: 'airDate', date: '2024-05-31' }],
    ['season=2024&ep=5/1', { kind: 'airDate', date: '2024-05-01' }],
    ['season=2024&ep=02/29', { kind: 'airDate', date: '2024-02-29' }],
  ])('%s', (rawQuery, episode) => {
    expect(search(`t=tvsearch&${rawQuery}`).episode).toEqual(episode)
  })
})

describe('ids', () => {
  test.each([
    ['t=tvsearch&imdbid=tt0944947', { imdbid: 944_947 }],
    ['t=movie&imdbid=0133093', { imdbid: 133_093 }],
    ['t=movie&imdbid=TT12345678', { imdbid: 12_345_678 }],
    ['t=movie&imdbid=tt2147483647', { imdbid: 2_147_483_647 }],
    ['t=tvsearch&tvdbid=121361&imdbid=tt0944947&tmdbid=1399', { tvdbid: 121_361, imdbid: 944_947, tmdbid: 1399 }],
    ['t=movie&imdbid=', {}],
  ])('%s', (rawQuery, ids) => {
    expect(search(rawQuery).ids).toEqual(ids)
  })
})

describe('words', () => {
  test.each([
    ['q=Game%20of%20Thrones', 'Game of Thrones'],
    ['q=Game+of+Thrones', 'Game of Thrones'],
    ['q=', undefined],
    ['q=%00', undefined],
    ['q=a%00b', 'ab'],
    ['q=+++', undefined],
    ['q=Am%C3%A9lie', 'Amélie'],
    ['q=Am%E9lie', 'Am\u{FFFD}lie'],
    ['q=100%', '100%'],
    ['q=a&q=b', 'a'],
    ['q=&q=b', 'b'],
    ['q[]=a', undefined],
  ])('%s', (rawQuery, q) => {
    expect(search(`t=search&${rawQuery}`).q).toBe(q)
  })

  test('Lidarr and Readarr send fields', () => {
    expect(search('t=music&q=&artist=A&album=B%26C&year=1981')).toMatchObject({
      q: undefined,
      text: { artist: 'A', album: 'B&C' },
      year: 1981,
    })
    expect(search('t=book&author=A&title=B').text).toEqual({ author: 'A', title: 'B' })
  })
})

test('sizes, age, tags and attributes', () => {
  expect(
    search('t=search&minsize=5&maxsize=10&maxage=30&tag=Freeleech,-remake&extended=1&attrs=poster,imdb'),
  ).toMatchObject({
    minSize: 5,
    maxSize: 10,
    maxAgeDays: 30,
    tags: { include: ['freeleech'], exclude: ['remake'] },
    attrs: 'all',
  })
  expect(search('t=search&maxage=0&maxsize=0&extended=0&attrs=Poster')).toMatchObject({
    maxSize: undefined,
    maxAgeDays: undefined,
    attrs: ['poster'],
  })
})

describe('parameters that the function ignores', () => {
  test.each([
    ['t=search&q=x', []],
    ['t=search&password=0&cache=false&anidbid=3', []],
    ['t=tvsearch&rid=5', ['rid']],
    ['t=tvsearch&rid=&tvmazeid=%20', []],
    ['t=tvsearch&tvmazeid=junk', ['tvmazeid']],
    ['t=search&season=1&ep=2', ['season', 'ep']],
    ['t=search&imdbid=tt0133093', ['imdbid']],
    ['t=movie&genre=Drama&season=1', ['season', 'genre']],
    ['t=search&group=alt.binaries', ['group']],
  ])('%s', (rawQuery, unsupported) => {
    expect(search(rawQuery).unsupported).toEqual(unsupported)
  })

  test('is not part of the query', () => {
    expect(search('t=search&season=junk&imdbid=tt1')).toMatchObject({ episode: undefined, ids: {} })
  })
})
