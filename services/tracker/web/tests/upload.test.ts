import { beforeAll, expect, test } from '@jest/globals'
import type { Client } from '../../tests/support/client.ts'
import { makeTorrent } from '../../tests/support/make-torrent.ts'
import { chooseFile, DESKTOP, NARROW, pressOn, tabTo, typeInto, useSite } from './support/site.ts'

const site = useSite({ UPLOAD_APPROVAL: 'manual' })
let member: Client

beforeAll(async () => {
  member = await site.tracker.signedIn('alice')
})

const fileOf = (
  name: string,
  buffer = makeTorrent(name, {
    files: [
      [`${name}.mkv`, 3_000_000],
      ['readme.txt', 900],
    ],
  }),
) => ({
  name: `${name}.torrent`,
  mimeType: 'application/x-bittorrent',
  buffer,
})

test('a member uploads a torrent by keyboard, corrects the preview, and downloads the copy of the tracker', async () => {
  const name = 'The.Long.Harbour.S02E05.1080p.WEB-DL.H.264-GROUP'
  const { page, problems } = await site.open('/upload', NARROW, member)
  await chooseFile(page.getByLabel('Choose a .torrent file'), fileOf(name))
  await page.getByRole('heading', { name: 'The Long Harbour' }).waitFor()
  await tabTo(page.getByLabel('Category'))
  // From the proposed category to its parent.
  await page.keyboard.press('ArrowUp')
  const preview = page.getByRole('region', { name: 'Preview' })
  await preview.getByText('TV / HD').waitFor()
  // Tab selects the text of a field.
  await typeInto(page.getByLabel('Name'), name.replace('1080p', '2160p'))
  await preview.getByText('TV / UHD/4K').waitFor()

  await typeInto(page.getByLabel('IMDb'), 'tt0000000')
  await pressOn(page.getByRole('button', { name: 'Upload torrent' }), 'Enter')
  await page.locator('.field-problem').waitFor()
  expect(await problems('upload-refused')).toEqual([])

  // The field with the problem has the focus.
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type('tt0111161')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Seed the tracker’s copy' }).waitFor()
  expect(await problems('upload-done')).toEqual([])
  const download = page.waitForEvent('download')
  await page.keyboard.press('Tab')
  await pressOn(page.getByRole('link', { name: 'Download .torrent' }), 'Enter')
  expect((await download).suggestedFilename()).toBe(`${name.replace('1080p', '2160p')}.torrent`)
})

test('files that are not a .torrent, or that the API refuses, are reported; a file can be dropped on the page', async () => {
  const { page, problems } = await site.open('/upload', DESKTOP, member)
  await page.getByText('or drop it here').waitFor()
  expect(await problems('upload')).toEqual([])
  const choose = (name: string, text: string) =>
    page.locator('#torrent-file').setInputFiles(fileOf(name, Buffer.from(text)))
  await choose('broken', 'not bencoded')
  const report = page.getByText('This is not a .torrent file.', { exact: true })
  await report.waitFor()
  await choose('empty', 'd4:infod6:lengthi0e4:name1:a12:piece lengthi16384e6:pieces0:ee')
  await page.getByText('Could not read this file.').waitFor()
  expect(await report.count()).toBe(0)
  await choose('no torrent', 'd3:agei3ee')
  await report.waitFor()
  await choose('empty', 'd4:infod6:lengthi0e4:name1:a12:piece lengthi16384e6:pieces0:ee')
  await report.waitFor({ state: 'detached' })
  await choose('a list', 'le')
  await report.waitFor()
  const text = makeTorrent('Dropped.2024.1080p').toString('base64')
  await page.evaluate(`{
    const bytes = Uint8Array.from(atob('${text}'), (character) => character.charCodeAt(0))
    const dataTransfer = new DataTransfer()
    dataTransfer.items.add(new File([bytes], 'dropped.torrent'))
    document.querySelector('h1').dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer }))
  }`)
  await page.getByRole('heading', { name: 'Dropped' }).waitFor()
})

test('another file asks before it discards what was typed', async () => {
  const { page } = await site.open('/upload', DESKTOP, member)
  const choose = (name: string) => page.locator('#torrent-file').setInputFiles(fileOf(name))
  await choose('The.First.File.2026.1080p')
  await page.getByLabel('Description').fill('Typed for the first file.')
  await choose('The.Second.File.2026.1080p')
  await page.getByRole('button', { name: 'Keep editing' }).press('Enter')
  expect(await page.getByLabel('Description').inputValue()).toBe('Typed for the first file.')
  await page.getByRole('heading', { name: 'The First File' }).waitFor()
  await choose('The.Second.File.2026.1080p')
  await page.getByRole('button', { name: 'Discard changes' }).click()
  await page.getByRole('heading', { name: 'The Second File' }).waitFor()
  expect(await page.getByLabel('Description').inputValue()).toBe('')
  // Nothing was typed for this one.
  await choose('The.Third.File.2026.1080p')
  await page.getByRole('heading', { name: 'The Third File' }).waitFor()
})

test('a pasted URL becomes the id in it, and is refused without one', async () => {
  const { page } = await site.open('/upload', DESKTOP, member)
  await page.getByLabel('Choose a .torrent file').setInputFiles(fileOf('Pasted.Ids.2024'))
  for (const [label, text, id, isRefused] of [
    ['IMDb', 'https://www.imdb.com/title/tt0111161/?ref_=nv_sr_srsg_0', 'tt0111161', false],
    ['TMDB', 'https://www.themoviedb.org/tv/1396-breaking-bad/season/2', '1396', false],
    ['TVDB', 'https://thetvdb.com/?tab=series&id=81189', '81189', false],
    ['IMDb', 'https://www.imdb.com/name/nm0000151/', 'https://www.imdb.com/name/nm0000151/', true],
  ] as const) {
    const field = page.getByLabel(label)
    await field.fill('')
    await field.focus()
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`)
    await page.keyboard.press('Control+V')
    expect([text, await field.inputValue()]).toEqual([text, id])
    expect(await field.and(page.locator(':invalid')).count()).toBe(isRefused ? 1 : 0)
  }
})

test('an upload form shows at once what the catalogue has, and asks why a duplicate should be listed', async () => {
  const staff = await site.tracker.signedIn('mod', 'moderator')
  const name = 'Twice.Told.2024.1080p.WEB-DL.H.264-GROUP'
  const existing = makeTorrent(name)
  await staff.upload(existing, { category: 'movies' })
  const { page, problems } = await site.open('/upload', DESKTOP, member)
  const choose = (buffer: Buffer) => page.getByLabel(/^Choose a/).setInputFiles(fileOf('chosen', buffer))
  await choose(existing)
  await page.getByText('This site already has this torrent.').waitFor()
  expect(await page.getByRole('button', { name: 'Upload torrent' }).count()).toBe(0)
  await choose(makeTorrent(name, { size: 2_000_000 }))
  await page.getByLabel('Reason for a duplicate').waitFor()
  expect(await page.getByLabel('Category').inputValue()).toBe('movies-hd')
  await page.getByLabel('NFO file').setInputFiles(fileOf('release', Buffer.from('Paper Moons, 2024')))
  await page.getByLabel('Upload anonymously').check()
  expect(await problems('upload-duplicate')).toEqual([])
  await page.getByRole('button', { name: 'Upload torrent' }).click()
  expect(await page.getByLabel('Reason for a duplicate').and(page.locator(':invalid')).count()).toBe(1)
  await page.getByLabel('Reason for a duplicate').fill('The other one has no sound.')
  await page.getByRole('button', { name: 'Upload torrent' }).click()
  await page.getByRole('heading', { name: 'Seed the tracker’s copy' }).waitFor()

  const queue = await site.open('/admin/moderation', DESKTOP, staff)
  await queue.page.getByRole('list', { name: 'Torrents' }).getByRole('link', { name: 'Twice' }).click()
  await queue.page.getByText('Reason: The other one has no sound.').waitFor()
  await queue.page.getByRole('list', { name: 'Torrents' }).getByText('Duplicate').waitFor()
  await queue.page.getByText('alice (hidden from members)').waitFor()
  await queue.page.getByText('Same release and quality').waitFor()
  expect(await queue.problems('moderation-torrent')).toEqual([])
})
