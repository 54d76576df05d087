import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  cleanText,
  type Feed,
  parseTorznabQuery,
  rfc822Date,
  type TorznabRequest,
  torznabError,
  writeCaps,
  writeError,
  writeFeed,
} from '../src/index.ts'
import { anyCaps, anyFeed, anyText } from './support/arbitraries.ts'
import { childrenNamed, type Element, readWithPython, readWithXml2js } from './support/read-xml.ts'
import { CAPS, FEED, SUPPORTED } from './support/samples.ts'

/** fast-check prints the seed of a failure; `FUZZ_SEED` repeats it. */
const SEED = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 31)
const RUNS = { numRuns: 100 * Number(process.env['TRIALS'] ?? 1), seed: SEED }

/** Characters that XML 1.0 forbids: the inverse of the rule in section 2.2. */
const ILLEGAL = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u

type Value = readonly [path: string, value: string]

/** The texts of a feed, in document order. */
function textsOf(feed: Feed): readonly Value[] {
  return [
    ['title', feed.title],
    ['description', feed.description],
    ['link', feed.siteUrl],
    ['self', feed.selfUrl],
    ...feed.items.flatMap((item): Value[] => [
      ['item/title', item.title],
      ['item/guid', item.detailsUrl],
      ['item/link', item.downloadUrl],
      ['item/comments', item.commentsUrl],
      ['item/pubDate', rfc822Date(item.publishedAt)],
      ['item/size', String(item.size)],
      ['item/description', item.description],
      ['item/category', item.categories.join()],
      ['item/enclosure', `${item.downloadUrl} ${item.size}`],
      ['item/attr/infohash', item.infoHash],
      ['item/attr/tag', (item.attributes?.tags ?? []).join()],
      ['item/attr/team', item.attributes?.team ?? ''],
      ['item/attr/poster', item.attributes?.poster ?? ''],
    ]),
  ]
}

/** The same texts as a reader found them in the document. */
function textsIn(rss: Element | undefined): readonly Value[] {
  const [channel] = childrenNamed(rss, 'channel')
  const text = (element: Element | undefined, name: string): string =>
    childrenNamed(element, name)
      .map((child) => child.text)
      .join()
  const attribute = (item: Element, name: string): string =>
    childrenNamed(item, 'torznab:attr')
      .filter(({ attributes }) => attributes['name'] === name)
      .map(({ attributes }) => attributes['value'])
      .join()
  return [
    ['title', text(channel, 'title')],
    ['description', text(channel, 'description')],
    ['link', text(channel, 'link')],
    ['self', childrenNamed(channel, 'atom:link')[0]?.attributes['href'] ?? '?'],
    ...childrenNamed(channel, 'item').flatMap((item): Value[] => {
      const [enclosure] = childrenNamed(item, 'enclosure')
      return [
        ...['title', 'guid', 'link', 'comments', 'pubDate', 'size', 'description', 'category'].map(
          (name): Value => [`item/${name}`, text(item, name)],
        ),
        ['item/enclosure', `${enclosure?.attributes['url'] ?? '?'} ${enclosure?.attributes['length'] ?? '?'}`],
        ...['infohash', 'tag', 'team', 'poster'].map((name): Value => [`item/attr/${name}`, attribute(item, name)]),
      ]
    }),
  ]
}

const cleaned = (values: readonly Value[]): readonly Value[] => values.map(([path, value]) => [path, cleanText(value)])

/** xml2js drops an element's text when it is nothing but spaces. */
const blankAsNone = (values: readonly Value[]): readonly Value[] =>
  values.map(([path, value]) => [path, value.trim() === '' ? '' : value])

describe(`with any texts (FUZZ_SEED=${SEED})`, () => {
  test('xml2js reads them back from a feed', async () => {
    await fc.assert(
      fc.asyncProperty(anyFeed, async (feed) => {
        const document = writeFeed(feed)
        expect(document).not.toMatch(ILLEGAL)
        expect(blankAsNone(textsIn(await readWithXml2js(document)))).toEqual(blankAsNone(cleaned(textsOf(feed))))
      }),
      RUNS,
    )
  })

  test('Python reads them back from a feed', () => {
    const feeds = fc.sample(anyFeed, RUNS)
    const read = readWithPython(feeds.map((feed) => writeFeed(feed)))
    expect(read.map(textsIn)).toEqual(feeds.map((feed) => cleaned(textsOf(feed))))
  })

  test('JSON has them too, and is well-formed Unicode', () => {
    fc.assert(
      fc.property(anyFeed, (feed) => {
        const read = JSON.parse(writeFeed(feed, 'json')) as { channel: { title: string; item: { title: string }[] } }
        expect(read.channel.title).toBe(cleanText(feed.title))
        expect(read.channel.item.map(({ title }) => title)).toEqual(feed.items.map(({ title }) => cleanText(title)))
        expect(JSON.stringify(read)).not.toMatch(ILLEGAL)
      }),
      RUNS,
    )
  })

  test('Python and xml2js read the same caps', async () => {
    const sample = fc.sample(anyCaps, RUNS)
    const documents = sample.map((caps) => writeCaps(caps))
    const read = readWithPython(documents)
    expect(await Promise.all(documents.map(readWithXml2js))).toEqual(read)
    for (const [i, caps] of sample.entries()) {
      expect(childrenNamed(read[i], 'server')[0]?.attributes['title']).toBe(cleanText(caps.server.title))
    }
  })

  test('an error contains its parameter', () => {
    const names = fc.sample(anyText, RUNS)
    const read = readWithPython(names.map((name) => writeError(torznabError('incorrectParameter', name))))
    expect(read.map(({ attributes }) => attributes['description'])).toEqual(
      names.map((name) => `Incorrect parameter: ${cleanText(name)}`),
    )
  })

  test('clean text is not changed', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(cleanText(cleanText(text))).toBe(cleanText(text))
        expect(cleanText(text)).not.toMatch(ILLEGAL)
      }),
      RUNS,
    )
  })
})

test('a feed of 1,000 items, each with a control character and a lone surrogate, is read', () => {
  const [item] = FEED.items
  if (item === undefined) throw new Error('the sample has no items')
  const items = Array.from({ length: 1_000 }, (_, i) => ({ ...item, title: `\u0001Item ${i} \uD800` }))
  const [rss] = readWithPython([writeFeed({ ...FEED, items })])
  const titles = childrenNamed(childrenNamed(rss, 'channel')[0], 'item').map((read) => childrenNamed(read, 'title')[0])
  expect([titles.length, titles[0]?.text, titles.at(-1)?.text]).toEqual([1_000, 'Item 0 \u{FFFD}', 'Item 999 \u{FFFD}'])
})

describe('with any query string', () => {
  const parse = (rawQuery: string): TorznabRequest =>
    parseTorznabQuery(rawQuery, { supported: SUPPORTED, limits: CAPS.limits })

  const name = fc.oneof(
    fc.constantFrom(...['t', 'apikey', 'q', 'cat', 'limit', 'offset', 'season', 'ep', 'imdbid', 'tvdbid', 'tag', 'o']),
    fc.constantFrom(...['year', 'artist', 'extended', 'attrs', 'rid', 'minsize', 'maxage', 'id', '__proto__', 'Q']),
    anyText,
  )
  const value = fc.oneof(
    anyText,
    fc.constantFrom(...['search', 'tvsearch', 'movie', 'music', 'book', 'details', 'caps', 'json', '1', '-1', '0']),
    fc.constantFrom(...['5000,5040', 'S01', 'E05', '05/31', '2024', 'tt0944947', '%', '%00', '%zz', 'a,-b', '9e9']),
    fc.integer().map(String),
  )
  const pairs = fc.array(fc.tuple(name, value), { maxLength: 12 })

  test('is a request within its ranges, or an error with the parameter', () => {
    let accepted = 0
    fc.assert(
      fc.property(
        pairs,
        fc.boolean(),
        fc.constantFrom('', 't=search&apikey=k&', 't=tvsearch&apikey=k&'),
        (list, escape, start) => {
          const rawQuery = list
            .map((pair) => pair.map((part) => (escape ? encodeURIComponent(cleanText(part)) : part)).join('='))
            .join('&')
          const request = parse(start + rawQuery)
          if (!request.ok) {
            expect([200, 201, 300]).toContain(request.error.code)
            expect(request.error.description).not.toMatch(ILLEGAL)
            return
          }
          accepted += 1
          if (request.query.function === 'caps') return
          expect(request.apiKey).toEqual(expect.stringMatching(/^\S(?:.*\S)?$/s))
          if (request.query.function === 'details') return
          const { limit, offset, q, ids, categories, year } = request.query
          expect(limit >= 0 && limit <= 100 && Number.isInteger(limit)).toBe(true)
          for (const number of [offset, year ?? 0, ...Object.values(ids), ...(categories ?? [])]) {
            expect(Number.isSafeInteger(number) && number >= 0).toBe(true)
          }
          expect(q).not.toBe('')
          expect(q ?? '').not.toMatch(ILLEGAL)
        },
      ),
      { ...RUNS, numRuns: 10 * RUNS.numRuns },
    )
    // Otherwise the samples are so wild that only the refusals are tested.
    expect(accepted).toBeGreaterThan(100)
  })

  test('words and numbers are unchanged', () => {
    fc.assert(
      fc.property(anyText, fc.nat({ max: 9999 }), fc.nat({ max: 9999 }), fc.nat(), (q, season, ep, offset) => {
        const rawQuery = new URLSearchParams({ t: 'tvsearch', apikey: 'k', q, season: `S${season}`, ep: `E${ep}` })
        const request = parse(`${rawQuery.toString()}&offset=${offset}`)
        expect(request).toMatchObject({
          ok: true,
          query: {
            q: cleanText(q).trim() || undefined,
            offset,
            episode: { kind: 'episode', season: { from: season, to: season }, episode: { from: ep, to: ep } },
          },
        })
      }),
      // Halves of a character, separated only by removed characters.
      { ...RUNS, examples: [['\ud83c\0\udfb8', 0, 0, 0]] },
    )
  })
})
