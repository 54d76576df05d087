import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { requireProgram } from '@vault-and-tracker/dev-env'
import RssParser from 'rss-parser'
import { Parser } from 'xml2js'
import { readWithPython } from './support/read-documents.ts'
import { readFeed, setLimits, startTorznabSite, type TorznabSite } from './support/torznab.ts'

/** Text that strict parsers reject or misread: markup, entities, other scripts, and characters that XML forbids. */
const NAMES = [
  'Us & Them <Uncut> "2020" \'Remastered\' ]]> S01E01 1080p WEB H264-GRP',
  'Amélie (2001) – Le Fabuleux Destin 1080p BluRay x264-GRP',
  '千と千尋の神隠し 2001 1080p',
  '🎬 Film 2020 1080p WEB-DL',
  '&amp; &#x41; %41 <![CDATA[x]]> 2020 720p',
]

let site: TorznabSite
/** To the second, like the times in feeds. */
const started = Math.floor(Date.now() / 1_000) * 1_000

beforeAll(async () => {
  await requireProgram('python3')
  site = await startTorznabSite()
  await setLimits(site.tracker)
  for (const name of NAMES) await site.upload(name)
  // The upload form refuses control characters, but a name may come from elsewhere, such as an import.
  const { id } = await site.upload('Imported 2020 720p WEB')
  await site.tracker.sql('update torrents set name = $2 where id = $1', [id, 'Imp\u0001or\u0008ted\uFFFE 2020'])
})

afterAll(() => site.tracker.stop())

const newestFirst = ['Imported 2020', ...NAMES.toReversed()]

test('xml2js, which cross-seed uses, reads the names as they are', async () => {
  const { items } = await readFeed(await site.ask('t=search'))
  expect(items.map(({ title }) => title)).toEqual(newestFirst)
  // An element with an attribute would be an object.
  for (const item of items) expect(typeof item.guid).toBe('string')
})

test('xml2js reads caps, an empty feed and errors', async () => {
  const read = async (query: string): Promise<unknown> => new Parser().parseStringPromise((await site.ask(query)).text)
  expect(await read('t=caps')).toMatchObject({
    caps: { limits: [{ $: { default: '25', max: '100' } }], categories: [{ category: expect.any(Array) }] },
  })
  expect(await read('t=search&q=nothing+at+all')).toMatchObject({
    rss: { channel: [{ 'newznab:response': [{ $: { offset: '0', total: '0' } }] }] },
  })
  expect(await read('t=nonsense')).toEqual({ error: { $: { code: '300', description: 'No such function' } } })
})

test('rss-parser, as feed readers do, finds titles, dates and files', async () => {
  const feed = await new RssParser().parseString((await site.ask('t=search')).text)
  expect(feed.items.map(({ title }) => title)).toEqual(newestFirst)
  for (const { isoDate, enclosure, guid, link } of feed.items) {
    expect(Date.parse(isoDate ?? '')).toBeGreaterThanOrEqual(started)
    expect(enclosure).toEqual({ url: link, type: 'application/x-bittorrent', length: '1000000' })
    expect(guid).toMatch(/^http:\/\/tracker\.test\/torrents\//)
  }
})

test("Python's xml.etree, which FlexGet uses, reads caps, feeds and errors", async () => {
  const answers = await Promise.all(
    ['t=caps', 't=search', 't=search&q=nothing+at+all', 't=nonsense', 't=search&apikey=x'].map((query) =>
      site.ask(query),
    ),
  )
  const [caps, feed, empty, ...errors] = readWithPython(answers.map(({ text }) => text))
  expect(caps?.root).toBe('caps')
  expect(caps?.categories).toEqual(['2000', '5000', '3000', '4050', '4000', '7000', '6000', '8000'])
  expect(feed?.items.map(({ title }) => title)).toEqual(newestFirst)
  for (const { enclosure, attributes } of feed?.items ?? []) {
    expect(enclosure['length']).toBe('1000000')
    expect(attributes).toContainEqual(['downloadvolumefactor', '1'])
  }
  expect(empty).toMatchObject({ root: 'rss', items: [] })
  expect(errors.map(({ root, attributes }) => [root, attributes['code']])).toEqual([
    ['error', '300'],
    ['error', '100'],
  ])
})
