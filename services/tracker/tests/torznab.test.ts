import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { decodeBencode } from '@vault-and-tracker/bencode-tracker/testing'
import RssParser from 'rss-parser'
import { createMember } from './support/members.ts'
import { type ReadItem, readError, readFeed, setLimits, startTorznabSite, type TorznabSite } from './support/torznab.ts'
import { readDefinition } from './tools/cardigann.ts'

let site: TorznabSite

beforeAll(async () => {
  site = await startTorznabSite()
  await setLimits(site.tracker)
})

afterAll(() => site.tracker.stop())

async function single(query: string): Promise<ReadItem> {
  const { items } = await readFeed(await site.ask(query))
  expect(items).toHaveLength(1)
  const [item] = items
  if (item === undefined) throw new Error('no item')
  return item
}

test('an uploaded torrent is found by the next search, and its file is behind the enclosure', async () => {
  const name = 'First.Light.S01E02.1080p.WEB-DL.H.264-GROUP'
  expect(await site.titles('t=search&q=first+light')).toEqual([])
  const { id, infoHash } = await site.upload(name, { tvdb: '121361', imdb: 'tt0944947' })
  const item = await single('t=search&q=first+light')
  const link = `http://tracker.test/api/torznab/download?id=${infoHash}&apikey=${site.uploader.passkey}`
  expect(item).toMatchObject({
    title: name,
    guid: `http://tracker.test/torrents/${id}`,
    link,
    size: '1000000',
    categories: ['5040', '5000'],
    enclosure: { url: link, length: '1000000', type: 'application/x-bittorrent' },
  })
  expect(item.pubDate).toMatch(/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} \+0000$/)
  expect(item.attributes).toMatchObject({
    category: ['5040', '5000'],
    size: ['1000000'],
    files: ['1'],
    grabs: ['0'],
    seeders: ['0'],
    leechers: ['0'],
    peers: ['0'],
    infohash: [infoHash],
    downloadvolumefactor: ['1'],
    uploadvolumefactor: ['1'],
    imdb: ['0944947'],
    imdbid: ['tt0944947'],
    tvdbid: ['121361'],
    season: ['1'],
    episode: ['2'],
    team: ['GROUP'],
    resolution: ['1080p'],
  })
  expect(item.attributes).not.toHaveProperty('magneturl')

  const file = await site.tracker.client().get(link.replace('http://tracker.test', ''))
  expect(file.status).toBe(200)
  expect(file.headers.get('content-type')).toBe('application/x-bittorrent')
  expect(file.headers.get('content-disposition')).toBe(`attachment; filename=${name}.torrent`)
  const root = decodeBencode(file.bytes)
  const announce = root.kind === 'dict' ? root.entries.get('announce') : undefined
  expect(announce?.kind === 'bytes' && announce.value.toString()).toBe(
    `http://tracker.test/announce?passkey=${site.uploader.passkey}`,
  )
})

test('seeders, leechers, peers and grabs are those of the swarm', async () => {
  const { id } = await site.upload('Crowded.Film.2019.720p.BluRay.x264-GROUP', { category: 'movies-hd' })
  await site.tracker.sql('update torrent_stats set seeders = 7, leechers = 2, completed = 12 where torrent_id = $1', [
    id,
  ])
  const { attributes } = await single('t=movie&q=crowded')
  expect(attributes).toMatchObject({ seeders: ['7'], leechers: ['2'], peers: ['9'], grabs: ['12'] })
})

test('an item has the uploader, what its name reveals, its tags and the seed time of the site', async () => {
  const admin = await site.tracker.signedIn('chief', 'admin')
  const film = 'Spoken.Film.2022.FRENCH.2160p.WEB-DL.DDP5.1.Atmos.DV.HDR10.H.265-GROUP'
  const { id } = await site.upload(film, { category: 'movies-uhd', scene: 'true' })
  await admin.patch(`/api/torrents/${id}`, { internal: true })
  expect((await single('t=search&q=spoken+film')).attributes).toMatchObject({
    ...{ poster: ['uploader'], author: ['uploader'], tag: ['internal', 'scene'], year: ['2022'] },
    ...{ language: ['French'], audio: ['Atmos DDP 5.1'], hdr: ['DV HDR10'], video: ['H.265'] },
    ...{ minimumseedtime: ['259200'], minimumratio: ['1'] },
  })

  await site.upload('Spoken.Pack.S01.MULTi.1080p.BluRay.x264-GROUP', { anonymous: 'true' })
  const pack = await single('t=search&q=spoken+pack')
  for (const name of ['poster', 'author', 'language', 'episode', 'hdr'])
    expect(pack.attributes).not.toHaveProperty(name)
  expect(pack.attributes).toMatchObject({ season: ['1'] })

  await site.upload('Spoken Writer - Spoken Book (2018) EPUB', { category: 'ebooks' })
  const book = await single('t=book&q=spoken+writer')
  expect(book.attributes).toMatchObject({ poster: ['uploader'], year: ['2018'] })
  expect(book.attributes).not.toHaveProperty('author')

  await admin.patch('/api/admin/site', { seedHours: 0 })
  const unruled = (await single('t=search&q=spoken+film')).attributes
  expect([unruled['minimumseedtime'], unruled['minimumratio']]).toEqual([undefined, undefined])
  await admin.patch('/api/admin/site', { seedHours: null })
})

test('the volume rates are the best of torrent, user and site', async () => {
  const { id } = await site.upload('Factor.Show.S01E01.1080p.WEB-DL.H.264-GROUP')
  const rates = async (): Promise<readonly unknown[]> => {
    const { attributes } = await single('t=search&q=factor')
    return [attributes['downloadvolumefactor'], attributes['uploadvolumefactor'], attributes['tag']]
  }
  const admin = await site.tracker.signedIn('boss', 'admin')
  await admin.patch(`/api/torrents/${id}`, { downloadPercent: 50 })
  expect(await rates()).toEqual([['0.5'], ['1'], undefined])
  await admin.patch('/api/admin/site', { uploadPercent: 200 })
  expect(await rates()).toEqual([['0.5'], ['2'], undefined])
  await admin.patch(`/api/admin/users/${site.uploader.id}`, { downloadPercent: 0 })
  expect(await rates()).toEqual([['0'], ['2'], ['freeleech']])
  await admin.patch('/api/admin/site', { uploadPercent: 100 })
  await admin.patch(`/api/admin/users/${site.uploader.id}`, { downloadPercent: 100 })
})

describe('functions', () => {
  beforeAll(async () => {
    await site.upload('Function.Series.S02E03.1080p.WEB-DL.H.264-GROUP', {
      tvdb: '700',
      tmdb: '701',
      imdb: 'tt0000702',
    })
    await site.upload('Function.Film.2021.1080p.BluRay.x264-GROUP', {
      category: 'movies-hd',
      imdb: 'tt0133093',
      tmdb: '603',
    })
    await site.upload('Some Artist - Some Album (2020) [FLAC]', { category: 'audio-lossless' })
    await site.upload('Some Writer - Some Book (2018) EPUB', { category: 'ebooks' })
    await site.upload('Function.Daily.2026.05.31.1080p.WEB.H264-GROUP')
  })

  const SERIES = 'Function.Series.S02E03.1080p.WEB-DL.H.264-GROUP'
  const FILM = 'Function.Film.2021.1080p.BluRay.x264-GROUP'
  const DAILY = 'Function.Daily.2026.05.31.1080p.WEB.H264-GROUP'
  const ALBUM = 'Some Artist - Some Album (2020) [FLAC]'
  const BOOK = 'Some Writer - Some Book (2018) EPUB'

  const cases: readonly (readonly [query: string, titles: readonly string[]])[] = [
    ['t=search&q=function+series', [SERIES]],
    ['t=search&q=FUNCTION%20s%C3%A9ries', [SERIES]],
    ['T=SEARCH&Q=function+series', [SERIES]],
    ['t=search&q=function&cat=2000', [FILM]],
    ['t=search&q=function&cat=2040', [FILM]],
    ['t=search&q=function&cat=2045', []],
    ['t=search&q=function&cat=5000,2000&extended=1', [DAILY, FILM, SERIES]],
    ['t=search&q=function&cat=5000&cat=2000&attrs=size,seeders', [DAILY, FILM, SERIES]],
    ['t=search&q=function&cat=', [DAILY, FILM, SERIES]],
    ['t=search&q=function&cat=2000,99999', [FILM]],
    ['t=search&q=function&cat=99999', []],
    ['t=tvsearch&q=function+series&season=2&ep=3', [SERIES]],
    ['t=tvsearch&q=function+series&season=S02&ep=E03', [SERIES]],
    ['t=tvsearch&q=function+series&season=02', [SERIES]],
    ['t=tvsearch&q=function+series&season=3', []],
    ['t=tvsearch&q=function+series&season=2&ep=4', []],
    ['t=tvsearch&tvdbid=700&season=2&ep=3', [SERIES]],
    ['t=tvsearch&tvdbid=999&tmdbid=701&imdbid=tt9999999', [SERIES]],
    ['t=tvsearch&imdbid=tt0000702', [SERIES]],
    ['t=tvsearch&imdbid=702', [SERIES]],
    ['t=tvsearch&tvdbid=998', []],
    ['t=tvsearch&q=function&season=2026&ep=05/31', [DAILY]],
    ['t=tvsearch&q=function&season=2026&ep=05%2F31', [DAILY]],
    ['t=tvsearch&q=function&season=2026&ep=06/01', []],
    ['t=movie&imdbid=tt0133093', [FILM]],
    ['t=movie&imdbid=0133093&tmdbid=1', [FILM]],
    ['t=movie&tmdbid=603', [FILM]],
    ['t=movie&q=function&year=2021', [FILM]],
    ['t=movie&q=function&year=1999', []],
    ['t=music&q=&artist=Some+Artist&album=Some+Album', [ALBUM]],
    ['t=music&artist=Some+Artist&album=Other', []],
    ['t=book&author=Some+Writer&title=Some+Book', [BOOK]],
    ['t=book&title=Some+Book', [BOOK]],
    // Standard parameters that the function does not support: an empty feed, not everything.
    ['t=tvsearch&rid=1', []],
    ['t=tvsearch&q=function&tvmazeid=1', []],
    ['t=search&q=function&imdbid=tt0133093', []],
    ['t=movie&q=function&genre=drama', []],
    ['t=search&q=function+series&group=alt.binaries', []],
    // Names that the standard does not know are ignored.
    ['t=search&q=function+series&password=0&dl=1', [SERIES]],
  ]

  test.each(cases)('%s', async (query, titles) => {
    expect(await site.titles(query)).toEqual(titles)
  })

  test('details is one item, by either case of its info hash', async () => {
    const { infoHash } = await site.upload('Detailed.Film.2020.1080p.BluRay.x264-GROUP', { category: 'movies-hd' })
    const details = await readFeed(await site.ask(`t=details&id=${infoHash.toUpperCase()}`))
    expect(details).toMatchObject({ offset: 0, total: 1 })
    expect(details.items[0]?.title).toBe('Detailed.Film.2020.1080p.BluRay.x264-GROUP')
    const unknown = await site.ask(`t=details&id=${'0'.repeat(40)}`)
    expect(unknown.status).toBe(404)
    expect(readError(unknown)).toEqual({ code: 300, description: 'No such item' })
  })

  test('the key may also be called passkey, in either case', async () => {
    const { passkey } = site.uploader
    expect(await site.titles(`t=search&q=function+series&passkey=${passkey}`)).toEqual([SERIES])
    expect(await site.titles(`t=search&q=function+series&ApiKey=${passkey.toUpperCase()}`)).toEqual([SERIES])
  })

  test('all URLs that tools derive from the base URL work', async () => {
    const client = site.tracker.client()
    const query = `?t=search&q=function+series&apikey=${site.uploader.passkey}`
    const answers = await Promise.all(
      ['/api/torznab', '/api/torznab/', '/api/torznab/api'].map((path) => client.get(path + query)),
    )
    for (const answer of answers) expect((await readFeed(answer)).total).toBe(1)
  })

  test('the definition has all categories, a delay within the limits, and no key', async () => {
    const admin = await site.tracker.signedIn('keeper', 'admin')
    await admin.patch('/api/admin/site', { name: 'Ünder: "{{ .Config.apikey }}" \u2028 🎸' })
    await admin.patch('/api/admin/torznab/settings', { windowSeconds: 60, searchLimit: 30, downloadLimit: 7 })
    const parent = 'tv'
    await admin.post('/api/admin/categories', { slug: 'talks', name: 'Talks, "live"', torznabId: 100_123, parent })
    const answer = await site.tracker.client().get('/api/torznab/definition.yml')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/yaml'])
    const { id, name, links, requestDelay, caps } = readDefinition(answer.text)
    expect([id, name, links]).toEqual([
      'tracker-test',
      'Ünder: "{{ .Config.apikey }}" \u2028 🎸',
      ['http://tracker.test/'],
    ])
    expect(requestDelay).toBe(8.6)
    expect(caps.categorymappings).toContainEqual({ id: 5040, cat: 'TV/HD', desc: 'TV > HD' })
    expect(caps.categorymappings).toContainEqual({ id: 100_123, cat: 'TV', desc: 'TV > Talks, "live"' })
    expect(answer.text).not.toContain(site.uploader.passkey)

    await admin.patch('/api/admin/torznab/settings', { enabled: false })
    expect(readError(await site.tracker.client().get('/api/torznab/definition.yml')).code).toBe(910)
    await admin.patch('/api/admin/torznab/settings', { enabled: true })
    await admin.patch('/api/admin/site', { name: null })
    await setLimits(site.tracker)
  })

  test('o=json answers in JSON', async () => {
    const answer = await site.ask('t=search&q=function+series&o=json')
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(answer.json).toMatchObject({
      channel: { response: { '@attributes': { offset: '0', total: '1' } }, item: [{ title: SERIES }] },
    })
    const caps = await site.ask('t=caps&o=json')
    expect(caps.json).toMatchObject({ limits: { '@attributes': { default: '25', max: '100' } } })
  })
})

describe('pages', () => {
  test('limit and offset walk through all results once, newest first, and end', async () => {
    const names = Array.from(
      { length: 30 },
      (_, i) => `Paged.Show.S01E${String(i + 1).padStart(2, '0')}.720p.WEB.H264-GRP`,
    )
    for (const name of names) await site.upload(name)
    const newestFirst = names.toReversed()
    const page = async (query: string) => readFeed(await site.ask(`t=search&q=paged+show${query}`))
    const first = await page('')
    expect(first).toMatchObject({ offset: 0, total: 30 })
    expect(first.items.map(({ title }) => title)).toEqual(newestFirst.slice(0, 25))
    const second = await page('&offset=25')
    expect(second).toMatchObject({ offset: 25, total: 30 })
    expect(second.items.map(({ title }) => title)).toEqual(newestFirst.slice(25))
    expect((await page('&offset=30')).items).toEqual([])
    expect((await page('&limit=1000')).items).toHaveLength(30)
    expect((await page('&limit=7')).items).toHaveLength(7)
    expect(await page('&limit=0&offset=3')).toMatchObject({ offset: 3, total: 30, items: [] })
    const feed = await readFeed(await site.ask('t=search'))
    expect(feed.items.map(({ title }) => title)).toEqual(newestFirst.slice(0, 25))
  })

  test('an unchanged page is 304, per user, regardless of other requests', async () => {
    await site.upload('Tagged.Show.S01E01.720p.WEB.H264-GRP')
    for (const query of ['t=search', 't=search&q=tagged']) {
      const first = await site.ask(query)
      const etag = first.headers.get('etag') ?? ''
      expect(etag).toMatch(/^W\/"[\w-]+"$/)
      expect(first.headers.get('cache-control')).toContain('private')
      const again = await site.ask(query, { 'if-none-match': etag })
      expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag])
      const among = await site.ask(query, { 'if-none-match': `"other", ${etag}` })
      expect(among.status).toBe(304)
      const json = await site.ask(`${query}&o=json`, { 'if-none-match': etag })
      expect(json.status).toBe(200)
    }
    const before = await site.ask('t=search&q=tagged')
    const etag = before.headers.get('etag') ?? ''
    const other = await createMember(site.tracker, 'other-reader')
    const theirs = await site.ask(`t=search&q=tagged&apikey=${other.passkey}`, { 'if-none-match': etag })
    expect(theirs.status).toBe(200)
    await site.upload('Tagged.Show.S01E02.720p.WEB.H264-GRP')
    expect((await site.ask('t=search&q=tagged', { 'if-none-match': etag })).status).toBe(200)
  })
})

describe('torrents that searches exclude', () => {
  test('a deleted torrent, a rejected one and a pending one', async () => {
    const admin = await site.tracker.signedIn('censor', 'admin')
    const { id, infoHash } = await site.upload('Hidden.Show.S01E01.720p.WEB.H264-GRP')
    expect(await site.titles('t=search&q=hidden')).toHaveLength(1)
    await admin.post(`/api/admin/torrents/${id}/reject`, { reason: 'not this one' })
    expect(await site.titles('t=search&q=hidden')).toEqual([])
    const path = `/api/torznab/download?id=${infoHash}&apikey=${site.uploader.passkey}`
    expect((await site.tracker.client().get(path)).status).toBe(404)
    await admin.post(`/api/admin/torrents/${id}/approve`)
    expect(await site.titles('t=search&q=hidden')).toHaveLength(1)
    await admin.delete(`/api/torrents/${id}`)
    expect(await site.titles('t=search&q=hidden')).toEqual([])
  })
})

test('caps ignores the key, and lists the categories and functions of the site', async () => {
  const caps = await site.tracker.client().get('/api/torznab?t=caps')
  expect(caps.status).toBe(200)
  expect(caps.headers.get('content-type')).toBe('application/xml; charset=utf-8')
  expect(caps.text).toContain('<limits default="25" max="100"/>')
  expect(caps.text).toContain(
    '<tv-search available="yes" supportedParams="q,season,ep,imdbid,tvdbid,tmdbid,tag"/><movie-search available="yes"',
  )
  expect(caps.text).toContain('<category id="5000" name="TV"><subcat id="5040" name="HD"/>')
  expect((await site.ask('t=caps&apikey=nonsense')).text).toBe(caps.text)
})

test('HEAD returns the length without a body; other methods are refused', async () => {
  const path = `/api/torznab?t=search&apikey=${site.uploader.passkey}`
  const head = await site.tracker.client().send('HEAD', path)
  expect([head.status, head.text]).toEqual([200, ''])
  expect(Number(head.headers.get('content-length'))).toBeGreaterThan(1_000)
  const post = await site.tracker.client().send('POST', path)
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  expect(readError(post).code).toBe(300)
})

test('tags that caps lists include and exclude the torrents whose items have them', async () => {
  const { tracker, uploader } = site
  const admin = await tracker.signedIn('tagger', 'admin')
  const names = new Map<string, string>()
  for (const [n, marks] of [{}, { internal: true }, { scene: true }, { internal: true, scene: true }].entries()) {
    const name = `Flagged.Film.${2000 + n}.1080p.BluRay.x264-GRP`
    const { id } = await site.upload(name, { category: 'movies-hd' })
    await admin.patch(`/api/torrents/${id}`, marks)
    names.set(Object.keys(marks).join(), name)
  }
  const named = (...kinds: readonly string[]) => kinds.map((kind) => names.get(kind))
  const found = (tag: string) => site.titles(`t=search&q=flagged&tag=${tag}`)
  expect(await found('internal')).toEqual(named('internal,scene', 'internal'))
  expect(await found('-internal')).toEqual(named('scene', ''))
  expect(await found('scene,-internal')).toEqual(named('scene'))
  expect(await found('-scene')).toEqual(named('internal', ''))
  expect(await found('scene,internal,freeleech')).toEqual([])
  const caps = await tracker.client().get('/api/torznab?t=caps')
  expect([...caps.text.matchAll(/<tag name="(\w+)"/g)].map(([, tag]) => tag)).toEqual([
    'freeleech',
    'internal',
    'scene',
  ])
  const listed = await uploader.client.get('/api/torrents?search=flagged&internal=true&scene=false')
  expect(listed.json).toMatchObject({ items: [{ name: names.get('internal') }], total: 1 })
})

test('the tag freeleech includes or excludes torrents that are free for the caller', async () => {
  const free = 'Given.Film.2020.1080p.BluRay.x264-GRP'
  const counted = 'Given.Film.2021.1080p.BluRay.x264-GRP'
  const { id } = await site.upload(free, { category: 'movies-hd' })
  await site.upload(counted, { category: 'movies-hd' })
  const admin = await site.tracker.signedIn('giver', 'admin')
  await admin.patch(`/api/torrents/${id}`, { downloadPercent: 0 })
  const found = () =>
    Promise.all(
      ['freeleech', '-freeleech', 'freeleech,internal'].map((tag) => site.titles(`t=movie&q=given&tag=${tag}`)),
    )
  expect(await found()).toEqual([[free], [counted], []])
  expect(await site.titles('t=search&q=given&tag=FREELEECH')).toEqual([free])
  await admin.patch(`/api/admin/users/${site.uploader.id}`, { downloadPercent: 0 })
  expect(await found()).toEqual([[counted, free], [], []])
  await admin.patch(`/api/admin/users/${site.uploader.id}`, { downloadPercent: 100 })
})

test('feed readers find titles with any character, dates and files', async () => {
  // Markup, entities, other scripts, and characters that XML forbids.
  const names = [
    'Us & Them <Uncut> "2020" \'Remastered\' ]]> S01E01 1080p WEB H264-GRP',
    'Amélie (2001) – Le Fabuleux Destin 1080p BluRay x264-GRP',
    '千と千尋の神隠し 2001 1080p',
    '🎬 Film 2020 1080p WEB-DL',
    '&amp; &#x41; %41 <![CDATA[x]]> 2020 720p',
  ]
  // To the second, like the times in feeds.
  const started = Math.floor(Date.now() / 1_000) * 1_000
  for (const name of names) await site.upload(name)
  // The upload form refuses control characters, but a name may come from elsewhere, such as an import.
  const { id } = await site.upload('Imported 2020 720p WEB')
  await site.tracker.sql('update torrents set name = $2 where id = $1', [id, 'Imp\u0001or\u0008ted\uFFFE 2020'])
  const { items } = await new RssParser().parseString((await site.ask(`t=search&limit=${names.length + 1}`)).text)
  expect(items.map(({ title }) => title)).toEqual(['Imported 2020', ...names.toReversed()])
  for (const { isoDate, enclosure, guid, link } of items) {
    expect(Date.parse(isoDate ?? '')).toBeGreaterThanOrEqual(started)
    expect(enclosure).toEqual({ url: link, type: 'application/x-bittorrent', length: '1000000' })
    expect(guid).toMatch(/^http:\/\/tracker\.test\/torrents\//)
  }
})
