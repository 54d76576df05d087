import { beforeAll, expect, test } from '@jest/globals'
import type { Client } from '../../tests/support/client.ts'
import { makeTorrent } from '../../tests/support/make-torrent.ts'
import { chooseFile, DESKTOP, NARROW, pressOn, useSite } from './support/site.ts'

const site = useSite({ UPLOAD_APPROVAL: 'manual' })
let staff: Client
let member: Client

beforeAll(async () => {
  staff = await site.tracker.signedIn('mod', 'moderator')
  member = await site.tracker.signedIn('alice')
})

const NAME = 'Paper.Moons.2024.1080p.WEB-DL.DDP5.1.H.264-GROUP'

const DESCRIPTION = `# About the film

A restored copy, *scanned* from the **original negative**.

| Part | Length |
| --- | --- |
| One | 52 min |

1. First
2. Second

> Quoted

\`\`\`
a long line of code that does not fit into the column ${'x'.repeat(120)}
\`\`\`

<script>document.title = 'stolen'</script> <img src=x onerror="document.title = 'stolen'">
![a picture](https://elsewhere.test/tracking.png) [safe](https://example.org/a) [bad](javascript:alert(1))
[worse](data:text/html,x) <https://example.org/b> plain https://example.org/c film.mkv`

const MEDIA_INFO = `General
Complete name : /home/alice/${NAME}.mkv
Format : Matroska
Duration : 1 h 42 min

Video
Format : AVC
Width : 1 920 pixels
Height : 800 pixels
Frame rate : 23.976 FPS

Audio #1
Format : E-AC-3
Commercial name : Dolby Digital Plus
Channel(s) : 6 channels
Language : English

Audio #2
Format : AAC LC
Channel(s) : 2 channels
Language : German
Title : Commentary

Text #1
Language : English

Text #2
Language : French
Forced : Yes
`

const NFO = Buffer.concat([
  Buffer.alloc(78, 0xdb),
  Buffer.from('\r\n  Paper Moons, 2024 \r\n'),
  Buffer.alloc(200, 0xb0),
])

async function addReleases(): Promise<string> {
  const others = [
    [NAME.replace('1080p', '2160p').replace('DDP5.1', 'DV.DDP5.1'), 900_000],
    [NAME.replace('WEB-DL', 'BluRay').replace('H.264', 'x264'), 700_000],
    [NAME.replace('1080p', 'PROPER.1080p').replace('GROUP', 'OTHER'), 400_000],
    [NAME.replace('1080p.WEB-DL', '720p.HDTV'), 200_000],
  ] as const
  for (const [name, size] of others)
    await staff.upload(makeTorrent(name, { size: size * 9_000 }), { category: 'movies' })
  const sent = await staff.upload(makeTorrent(NAME, { size: 3_000_000_000 }), {
    ...{ category: 'movies', description: DESCRIPTION, mediaInfo: MEDIA_INFO, nfo: NFO.toString('base64') },
    ...{ imdb: 'tt0111161', tmdb: '278', anonymous: 'true', internal: 'true', scene: 'true' },
  })
  return sent.member('id')
}

test('a torrent page shows the description, media, other releases and costs, and hides its uploader', async () => {
  const id = await addReleases()
  await site.tracker.sql("update users set uploaded = 9000000000, downloaded = 6000000000 where username = 'alice'")
  await site.tracker.sql('update torrents set download_percent = 50 where id = $1', [id])
  await site.tracker.sql('update torrent_stats set seeders = 12')
  await site.tracker.sql(
    `insert into torrent_history select $1, floor(extract(epoch from now()) / 21600), '{5,4,3,9,2}', '{1,0,2,3,9}'`,
    [id],
  )
  const { page, problems } = await site.open(`/torrents/${id}`, DESKTOP, member)
  await page.getByRole('heading', { name: 'About the film' }).waitFor()
  await page.getByRole('heading', { name: 'What a download costs you' }).waitFor()
  expect(await problems('torrent-page')).toEqual([])
  await page.getByText('Anonymous').waitFor()
  expect(await page.locator('main').innerText()).not.toMatch(/\bmod\b/)

  const about = page.locator('.markdown')
  expect(await about.locator('img, script, [onerror]').count()).toBe(0)
  const links = await page.evaluate<[string, string][]>(
    `Array.from(document.querySelectorAll('.markdown a'), ({ href, rel }) => [href, rel])`,
  )
  expect(links.map(([href]) => href)).toEqual([
    'https://elsewhere.test/tracking.png',
    ...['a', 'b', 'c'].map((path) => `https://example.org/${path}`),
  ])
  expect(new Set(links.map(([, rel]) => rel))).toEqual(new Set(['nofollow noopener noreferrer']))
  await about.getByText("<script>document.title = 'stolen'</script>").waitFor()
  expect(await page.title()).not.toContain('stolen')

  await page.getByText('1.40 GiB (50 %)').waitFor()
  await page.getByText('1.20, now 1.50').waitFor()
  await page.getByText('English · DDP · 5.1').waitFor()
  await page.getByText('English, French · forced').waitFor()
  const matrix = page.getByRole('table', { name: 'Releases by resolution and source' })
  expect(await matrix.getByRole('rowheader').allInnerTexts()).toEqual(['2160p', '1080p', '720p'])
  expect(await matrix.getByRole('link').count()).toBe(4)
  await matrix.getByRole('link', { name: /Proper/ }).click()
  await page.getByRole('heading', { name: /PROPER/ }).waitFor()
  await page.goBack()

  await page.getByRole('link', { name: 'NFO and MediaInfo' }).click()
  await page.getByRole('region', { name: 'NFO as text' }).getByText('Paper Moons, 2024').waitFor()
  expect(await page.getByRole('region', { name: 'MediaInfo as text' }).innerText()).not.toContain('alice')
  expect(await problems('torrent-texts')).toEqual([])
  await page.getByRole('link', { name: 'Swarm' }).click()
  await page.getByRole('heading', { name: 'Last 30 days' }).waitFor()
  expect(await problems('torrent-swarm')).toEqual([])
})

test('a member reports a torrent by keyboard, and staff resolve the report', async () => {
  const name = 'Wrong.Sound.2023.1080p.WEB-DL.H.264-GROUP'
  const id = (await staff.upload(makeTorrent(name), { category: 'movies' })).member('id')
  const { page, problems } = await site.open(`/torrents/${id}`, NARROW, member)
  await page.getByRole('button', { name: 'Report torrent' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.type('The sound is missing.')
  expect(await problems('torrent-report')).toEqual([])
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  const visit = await site.open('/admin/reports', DESKTOP, staff)
  await visit.page.getByText('The sound is missing.').waitFor()
  await visit.page.getByRole('link', { name: 'Reports 1 open' }).waitFor()
  expect(await visit.problems('staff-reports')).toEqual([])
  await visit.page.getByRole('button', { name: 'Resolve report' }).click()
  await visit.page.getByLabel('Note').fill('Replaced.')
  expect(await visit.problems('staff-report-resolve')).toEqual([])
  await visit.page.getByRole('dialog').getByRole('button', { name: 'Resolve report' }).click()
  await visit.page.getByText('No open reports.').waitFor()
  await visit.page.getByRole('link', { name: 'Resolved', exact: true }).click()
  await visit.page.getByText('Replaced.').waitFor()
  expect(await visit.problems('staff-reports-resolved')).toEqual([])
})

const fileOf = (name: string, buffer: Buffer) => ({ name, mimeType: 'application/octet-stream', buffer })

test('an upload form shows at once what the catalogue has, and asks why a duplicate should be listed', async () => {
  const name = 'Twice.Told.2024.1080p.WEB-DL.H.264-GROUP'
  const existing = makeTorrent(name)
  await staff.upload(existing, { category: 'movies' })
  const { page, problems } = await site.open('/upload', DESKTOP, member)
  const choose = (buffer: Buffer) => page.getByLabel(/^Choose a/).setInputFiles(fileOf('chosen.torrent', buffer))
  await choose(existing)
  await page.getByText('This site already has this torrent.').waitFor()
  expect(await page.getByRole('button', { name: 'Upload torrent' }).count()).toBe(0)
  expect(await problems('upload-exists')).toEqual([])
  await choose(makeTorrent(name, { size: 2_000_000 }))
  await page.getByLabel('Reason for a duplicate').waitFor()
  expect(await page.getByLabel('Category').inputValue()).toBe('movies-hd')
  await page.getByLabel('NFO file').setInputFiles(fileOf('release.nfo', NFO))
  await page.getByLabel('Upload anonymously').check()
  expect(await problems('upload-duplicate')).toEqual([])
  await page.getByRole('button', { name: 'Upload torrent' }).click()
  expect(await page.getByLabel('Reason for a duplicate').and(page.locator(':invalid')).count()).toBe(1)
  await page.getByLabel('Reason for a duplicate').fill('The other one has no sound.')
  await page.getByRole('button', { name: 'Upload torrent' }).click()
  await page.getByRole('heading', { name: 'Seed the tracker’s copy' }).waitFor()

  const queue = await site.open('/admin/moderation', DESKTOP, staff)
  await queue.page.getByText('Reason: The other one has no sound.').waitFor()
  await queue.page.getByRole('list', { name: 'Torrents' }).getByText('Duplicate').waitFor()
  await queue.page.getByText('alice (hidden from members)').waitFor()
  await queue.page.getByText('Same release and quality').waitFor()
  expect(await queue.problems('moderation-duplicate')).toEqual([])
})

test('its uploader edits the texts and options of a torrent by keyboard', async () => {
  const name = 'Edited.Later.2024.1080p.WEB-DL.H.264-GROUP'
  const id = (await staff.upload(makeTorrent(name), { category: 'movies', mediaInfo: MEDIA_INFO })).member('id')
  const { page, problems } = await site.open(`/torrents/${id}`, NARROW, staff)
  await pressOn(page.getByRole('button', { name: 'Edit torrent' }), 'Enter')
  await chooseFile(page.getByLabel('New NFO file'), fileOf('release.nfo', NFO))
  await pressOn(page.getByLabel('Remove MediaInfo'), 'Space')
  await pressOn(page.getByLabel('Scene release'), 'Space')
  expect(await problems('torrent-edit-texts')).toEqual([])
  await pressOn(page.getByRole('button', { name: 'Save torrent' }), 'Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Edit torrent')
  await pressOn(page.getByRole('link', { name: 'NFO', exact: true }), 'Enter')
  await page.getByText('Paper Moons, 2024').waitFor()
  expect((await staff.get(`/api/torrents/${id}`)).json).toMatchObject({
    hasNfo: true,
    hasMediaInfo: false,
    scene: true,
  })
})
