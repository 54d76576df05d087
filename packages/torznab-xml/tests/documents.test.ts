import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { XMLParser } from 'fast-xml-parser'
import RssParser from 'rss-parser'
import { torznabError, writeCaps, writeError, writeFeed } from '../src/index.ts'
import { childrenNamed, type Element, readWithPython, readWithXml2js } from './support/read-xml.ts'
import { ALBUM, CAPS, EPISODE, FEED } from './support/samples.ts'

const EMPTY = { ...FEED, limits: undefined, offset: 100, total: 0, items: [] }
const ERROR = torznabError('incorrectParameter', 'cat')

const documents = [
  ['caps', (format: 'xml' | 'json') => writeCaps(CAPS, format)],
  ['feed', (format: 'xml' | 'json') => writeFeed(FEED, format)],
  ['empty-feed', (format: 'xml' | 'json') => writeFeed(EMPTY, format)],
  ['error', (format: 'xml' | 'json') => writeError(ERROR, format)],
] as const

describe('documents are as they were', () => {
  const golden = (file: string): string => readFileSync(new URL(`fixtures/${file}`, import.meta.url), 'utf8')

  test.each(documents)('%s.xml', (name, write) => {
    // In the file each element has a line; in texts, `<` and `>` are always escaped.
    expect(`${write('xml').replaceAll('><', '>\n<')}\n`).toBe(golden(`${name}.xml`))
  })

  test.each(documents)('%s.json', (name, write) => {
    expect(`${JSON.stringify(JSON.parse(write('json')), null, 2)}\n`).toBe(golden(`${name}.json`))
  })
})

test('xml2js and Python read the same from every document', async () => {
  const xml = documents.map(([, write]) => write('xml'))
  expect(await Promise.all(xml.map(readWithXml2js))).toEqual(readWithPython(xml))
})

test('fast-xml-parser reads the root of every document', () => {
  const roots = documents.map(([, write]) => Object.keys(new XMLParser().parse(write('xml')) as object))
  expect(roots).toEqual([
    ['?xml', 'caps'],
    ['?xml', 'rss'],
    ['?xml', 'rss'],
    ['?xml', 'error'],
  ])
})

test('caps lists functions, limits and categories', () => {
  const [caps] = readWithPython([writeCaps(CAPS)])
  expect(caps?.name).toBe('caps')
  expect(childrenNamed(caps, 'limits')[0]?.attributes).toEqual({ default: '25', max: '100' })
  const [searching] = childrenNamed(caps, 'searching')
  const supported = searching?.children.map(({ name, attributes }) => [name, attributes['supportedParams']])
  expect(supported).toEqual([
    ['search', 'q,tag'],
    ['tv-search', 'q,season,ep,imdbid,tvdbid,tmdbid,tag'],
    ['movie-search', 'q,imdbid,tmdbid,year,tag'],
    ['music-search', 'q,artist,album,year'],
    ['audio-search', 'q,artist,album,year'],
    ['book-search', 'q,author,title'],
  ])
  const [categories] = childrenNamed(caps, 'categories')
  const ids = categories?.children.flatMap((category) => [category, ...category.children].map(idOf)) ?? []
  expect(ids).toContain(5070)
  expect(new Set(ids).size).toBe(ids.length)
})

test('a function without parameters is not available, and its list is not empty', async () => {
  const caps = await readWithXml2js(writeCaps({ ...CAPS, supported: { ...CAPS.supported, book: [] } }))
  const [searching] = childrenNamed(caps, 'searching')
  expect(childrenNamed(searching, 'book-search')[0]?.attributes).toEqual({ available: 'no', supportedParams: 'q' })
})

describe('a feed', () => {
  const [rss] = readWithPython([writeFeed(FEED)])
  const [channel] = childrenNamed(rss, 'channel')
  const [episode, album] = childrenNamed(channel, 'item')

  test('is RSS 2.0 with the place of the page and the limits', () => {
    expect(rss?.attributes).toEqual({ version: '2.0' })
    expect(childrenNamed(channel, 'newznab:response')[0]?.attributes).toEqual({ offset: '0', total: '2' })
    expect(childrenNamed(channel, 'newznab:apilimits')[0]?.attributes).toEqual({
      apiCurrent: '3',
      apiMax: '30',
      grabCurrent: '0',
      grabMax: '20',
    })
  })

  test('has the size of an item in the three places that tools read', () => {
    expect(textOf(episode, 'size')).toBe('2538463390')
    expect(childrenNamed(episode, 'enclosure')[0]?.attributes).toEqual({
      url: EPISODE.downloadUrl,
      length: '2538463390',
      type: 'application/x-bittorrent',
    })
    expect(attributes(episode, 'size')).toEqual(['2538463390'])
  })

  test('gives a bare guid, which is the page of the torrent', () => {
    const [guid] = childrenNamed(episode, 'guid')
    expect([guid?.text, guid?.attributes]).toEqual([EPISODE.detailsUrl, {}])
  })

  test('has integer categories as elements and as attributes', () => {
    expect(childrenNamed(episode, 'category').map(({ text }) => text)).toEqual(['5040', '5000'])
    expect(attributes(episode, 'category')).toEqual(['5040', '5000'])
  })

  test('counts seeders and leechers together as peers', () => {
    expect(['seeders', 'leechers', 'peers'].map((name) => attributes(episode, name))).toEqual([['7'], ['2'], ['9']])
  })

  test('has the IMDb id with and without tt', () => {
    expect([attributes(episode, 'imdb'), attributes(episode, 'imdbid')]).toEqual([['0944947'], ['tt0944947']])
  })

  test('always has both rates, as plain decimals', () => {
    const rates = (item: Element | undefined) =>
      ['downloadvolumefactor', 'uploadvolumefactor'].map((name) => attributes(item, name))
    expect(rates(episode)).toEqual([['0.25'], ['2']])
    expect(rates(album)).toEqual([['1'], ['1']])
    const odd = { ...EPISODE, rates: { download: 0.00000001, upload: 1 / 3 } }
    const [written] = readWithPython([writeFeed({ ...FEED, items: [odd] })])
    expect(rates(childrenNamed(childrenNamed(written, 'channel')[0], 'item')[0])).toEqual([['0'], ['0.333']])
  })

  test('omits attributes with unknown values', () => {
    for (const name of ['imdb', 'imdbid', 'tvdbid', 'season', 'tag', 'magneturl']) {
      expect(attributes(album, name)).toEqual([])
    }
  })

  test('has one attribute for each tag', () => {
    expect(attributes(episode, 'tag')).toEqual(['internal', 'freeleech'])
  })

  test('is read by a common RSS reader', async () => {
    const read = await new RssParser().parseString(writeFeed(FEED))
    expect(read.items).toMatchObject([
      {
        title: EPISODE.title,
        link: EPISODE.downloadUrl,
        guid: EPISODE.detailsUrl,
        isoDate: '2024-03-05T07:08:09.000Z',
        categories: ['5040', '5000'],
        enclosure: { url: EPISODE.downloadUrl, length: '2538463390', type: 'application/x-bittorrent' },
      },
      { title: ALBUM.title, isoDate: '2024-02-29T23:59:59.000Z' },
    ])
  })

  test('with an invalid date is not written', () => {
    const items = [{ ...EPISODE, publishedAt: new Date(Number.NaN) }]
    expect(() => writeFeed({ ...FEED, items })).toThrow(RangeError)
  })
})

function idOf(element: Element): number {
  return Number(element.attributes['id'])
}

function textOf(element: Element | undefined, name: string): string | undefined {
  return childrenNamed(element, name)[0]?.text
}

function attributes(item: Element | undefined, name: string): readonly (string | undefined)[] {
  return childrenNamed(item, 'torznab:attr')
    .filter((attribute) => attribute.attributes['name'] === name)
    .map((attribute) => attribute.attributes['value'])
}
