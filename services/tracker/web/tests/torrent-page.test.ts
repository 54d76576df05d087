import { beforeAll, expect, test } from '@jest/globals'
import type { Client } from '../../tests/support/client.ts'
import { makeTorrent } from '../../tests/support/make-torrent.ts'
import { chooseFile, DESKTOP, NARROW, pressOn, typeInto, useSite } from './support/site.ts'

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
  expect(await page.getByRole('button', { name: /(Edit|Delete) torrent/ }).count()).toBe(0)
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

  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download .torrent' }).first().click()
  expect((await download).suggestedFilename()).toBe(`${NAME}.torrent`)
  await page.getByRole('link', { name: 'Files (1)' }).click()
  await page.waitForURL('**?tab=files')
  await page.getByRole('cell', { name: '2.79 GiB' }).waitFor()
  expect(await problems('torrent-files')).toEqual([])
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
})

test('a refused download says why, in the list and on the page', async () => {
  const leecher = await site.tracker.signedIn('leecher')
  await site.tracker.sql(`update users set can_download = false where username = 'leecher'`)
  const name = 'Refused.2024.1080p.WEB-DL.H.264-GROUP'
  await staff.upload(makeTorrent(name), { category: 'movies' })
  const { page } = await site.open('/torrents?search=refused', DESKTOP, leecher)
  await page.getByRole('link', { name: `Download .torrent of ${name}` }).click()
  await page.getByText('Downloads are disabled for your account.').waitFor()
  expect(new URL(page.url()).pathname).toBe('/torrents')
  await page.getByRole('link', { name, exact: true }).click()
  await page.getByRole('link', { name: 'Download .torrent' }).click()
  await page.getByRole('status').getByText('Downloads are disabled for your account.').first().waitFor()
})

test('a member asks for seeders of a torrent that has none, by keyboard', async () => {
  const id = (await staff.upload(makeTorrent('Nobody.Seeds.This'), { category: 'movies' })).member('id')
  const { page } = await site.open(`/torrents/${id}`, DESKTOP, member)
  const ask = page.getByRole('button', { name: 'Ask for seeders' })
  await pressOn(ask, 'Enter')
  await page.getByText('Asked 1 member').waitFor()
  await pressOn(ask, 'Enter')
  await page.getByText('less than 3 days ago').waitFor()
  await site.tracker.sql('update torrent_stats set seeders = 1 where torrent_id = $1', [id])
  await page.reload()
  await page.getByRole('link', { name: 'Download .torrent' }).waitFor()
  expect(await ask.count()).toBe(0)
})

const fileOf = (name: string, buffer: Buffer) => ({ name, mimeType: 'application/octet-stream', buffer })

test('its uploader edits the texts and options of a rejected torrent, and deletes it, by keyboard', async () => {
  const name = 'Edited.Later.2024.1080p.WEB-DL.H.264-GROUP'
  const uploaded = await member.upload(makeTorrent(name), { category: 'movies', mediaInfo: MEDIA_INFO })
  const id = uploaded.member('id')
  await staff.post(`/api/admin/torrents/${id}/reject`, { reason: 'Describe it.' })
  const { page, problems } = await site.open(`/torrents/${id}`, NARROW, member)
  await page.getByText('Describe it.').waitFor()
  expect(await page.getByRole('link', { name: 'Download .torrent' }).count()).toBe(0)
  expect(await problems('torrent-rejected')).toEqual([])
  await pressOn(page.getByRole('button', { name: 'Edit torrent' }), 'Enter')
  await typeInto(page.getByLabel('Description'), 'Recorded at home.')
  await chooseFile(page.getByLabel('New NFO file'), fileOf('release.nfo', NFO))
  await pressOn(page.getByLabel('Remove MediaInfo'), 'Space')
  await pressOn(page.getByLabel('Scene release'), 'Space')
  expect(await problems('torrent-edit-texts')).toEqual([])
  await pressOn(page.getByRole('button', { name: 'Save torrent' }), 'Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Edit torrent')
  await page.getByText('Recorded at home.').waitFor()
  await page.getByRole('heading', { name: 'Edited.Later' }).getByText('Awaiting approval').waitFor()
  await pressOn(page.getByRole('link', { name: 'NFO', exact: true }), 'Enter')
  await page.getByText('Paper Moons, 2024').waitFor()
  expect((await staff.get(`/api/torrents/${id}`)).json).toMatchObject({
    hasNfo: true,
    hasMediaInfo: false,
    scene: true,
  })

  await pressOn(page.getByRole('button', { name: 'Delete torrent' }), 'Enter')
  await page.getByText('permanently').waitFor()
  await typeInto(page.getByLabel('Reason'), 'A better copy is here.')
  expect(await problems('torrent-delete')).toEqual([])
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Delete torrent' }), 'Enter')
  await page.waitForURL('**/torrents')
  expect((await member.get(`/api/torrents/${id}`)).status).toBe(404)
  expect(await site.tracker.sql('select delete_reason as reason from torrents where id = $1', [id])).toEqual([
    { reason: 'A better copy is here.' },
  ])
})

test('the category is chosen by its full name, and ids of other catalogues are corrected and removed', async () => {
  const torrent = makeTorrent(`Wrong.Ids.2024`)
  const uploaded = await staff.upload(torrent, { category: 'movies', imdb: 'tt0111161', tmdb: '278', tvdb: '121361' })
  const address = `/api/torrents/${uploaded.member('id')}`
  const { page } = await site.open(`/torrents/${uploaded.member('id')}`, DESKTOP, staff)
  await page.getByRole('button', { name: 'Edit torrent' }).click()
  const options = await page.getByLabel('Category').locator('option').allTextContents()
  expect(options).toContain('Movies / UHD/4K')
  expect(new Set(options).size).toBe(options.length)
  expect(await page.getByLabel('IMDb').inputValue()).toBe('tt0111161')
  expect(await page.getByLabel('TMDB').inputValue()).toBe('278')
  await page.getByLabel('IMDb').fill('tt0000000')
  await page.getByRole('button', { name: 'Save torrent' }).click()
  await page.locator('.field-problem').waitFor()
  await page.getByLabel('IMDb').fill('tt0068646')
  await page.getByLabel('TMDB').fill('238')
  await page.getByLabel('TVDB').fill('')
  await page.getByRole('button', { name: 'Save torrent' }).click()
  await page.getByText('tt0068646').waitFor()
  expect((await staff.get(address)).json).toMatchObject({ imdb: 'tt0068646', tmdb: 238, tvdb: null })
  await page.getByRole('button', { name: 'Edit torrent' }).click()
  await page.getByLabel('IMDb').fill('')
  await page.getByLabel('TMDB').fill('')
  await page.getByRole('button', { name: 'Save torrent' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect((await staff.get(address)).json).toMatchObject({ imdb: null, tmdb: null, tvdb: null })
})

test('a dialog with typed text closes only after a question', async () => {
  const id = (await staff.upload(makeTorrent('Typed.2024.1080p'), { category: 'movies' })).member('id')
  const { page, problems } = await site.open('/torrents?search=typed', DESKTOP, staff)
  await page.getByRole('link', { name: 'Typed.2024.1080p', exact: true }).click()
  await page.waitForURL(`**/torrents/${id}`)
  const opener = page.getByRole('button', { name: 'Edit torrent' })
  await opener.click()
  const dialog = page.getByRole('dialog', { name: 'Edit torrent' })
  await dialog.getByLabel('Description').focus()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await opener.click()
  await dialog.getByLabel('Description').fill('Recorded at home.')
  const asked = page.getByRole('dialog', { name: 'Discard changes?' })
  await page.keyboard.press('Escape')
  await asked.waitFor()
  expect(await problems('discard-dialog')).toEqual([])
  await page.keyboard.press('Escape')
  await asked.waitFor({ state: 'detached' })
  await page.goBack()
  await asked.getByRole('button', { name: 'Keep editing' }).click()
  expect(await dialog.getByLabel('Description').inputValue()).toBe('Recorded at home.')
  await page.keyboard.press('Escape')
  await asked.getByRole('button', { name: 'Discard changes' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Edit torrent')
})
