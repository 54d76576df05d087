import { beforeAll, expect, test } from '@jest/globals'
import type { Client } from '../../tests/support/client.ts'
import { makeTorrent } from '../../tests/support/make-torrent.ts'
import { chooseFile, DESKTOP, NARROW, pressOn, tabTo, typeInto, useSite } from './support/site.ts'

const site = useSite()
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

/** A pasted text and the id that it becomes. */
const ADDRESSES = [
  ['IMDb', 'https://www.imdb.com/title/tt0111161/?ref_=nv_sr_srsg_0', 'tt0111161'],
  ['IMDb', 'm.imdb.com/title/tt10872600', 'tt10872600'],
  ['IMDb', ' tt0068646 ', 'tt0068646'],
  ['TMDB', 'https://www.themoviedb.org/movie/278-the-shawshank-redemption?language=de', '278'],
  ['TMDB', 'https://www.themoviedb.org/tv/1396-breaking-bad/season/2', '1396'],
  ['TVDB', 'https://thetvdb.com/dereferrer/series/121361', '121361'],
  ['TVDB', 'https://thetvdb.com/?tab=series&id=81189', '81189'],
  ['TVDB', 'https://www.thetvdb.com/?tab=season&seriesid=81189&seasonid=40719&lid=7', '81189'],
] as const

/** URLs without the id of a film or series. */
const OTHER_ADDRESSES = [
  ['IMDb', 'https://www.imdb.com/name/nm0000151/'],
  ['TMDB', 'https://www.themoviedb.org/person/504-tim-robbins'],
  ['TVDB', 'https://thetvdb.com/series/24'],
] as const

test('a member uploads a torrent by keyboard, corrects the preview, and downloads the copy of the tracker', async () => {
  const name = 'The.Long.Harbour.S02E05.1080p.WEB-DL.H.264-GROUP'
  const { page, problems } = await site.open('/upload', NARROW, member)
  await page.getByText('or drop it here').waitFor()
  expect(await problems('upload')).toEqual([])
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
  expect(await problems('upload-understood')).toEqual([])

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

test('a file can be dropped anywhere on the page', async () => {
  const { page } = await site.open('/upload', DESKTOP, member)
  const text = makeTorrent('Dropped.2024.1080p').toString('base64')
  await page.getByText('or drop it here').waitFor()
  await page.evaluate(`{
    const bytes = Uint8Array.from(atob('${text}'), (character) => character.charCodeAt(0))
    const dataTransfer = new DataTransfer()
    dataTransfer.items.add(new File([bytes], 'dropped.torrent'))
    document.querySelector('h1').dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer }))
  }`)
  await page.getByRole('heading', { name: 'Dropped' }).waitFor()
})

test.each([
  ['broken', 'not bencoded'],
  ['a list', 'le'],
  ['no torrent', 'd3:agei3ee'],
])('a file that is not a .torrent is reported (%s)', async (name, text) => {
  const { page, problems } = await site.open('/upload', DESKTOP, member)
  await page.getByLabel('Choose a .torrent file').setInputFiles(fileOf(name, Buffer.from(text)))
  await page.getByText('This is not a .torrent file.', { exact: true }).waitFor()
  expect(await problems('upload-broken')).toEqual([])
})

test('another file asks before it discards what was typed', async () => {
  const { page, problems } = await site.open('/upload', DESKTOP, member)
  const choose = (name: string) => page.locator('#torrent-file').setInputFiles(fileOf(name))
  await choose('The.First.File.2026.1080p')
  await page.getByLabel('Description').fill('Typed for the first file.')
  await choose('The.Second.File.2026.1080p')
  await page.getByRole('button', { name: 'Keep editing' }).waitFor()
  expect(await problems('upload-other-file')).toEqual([])
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

test('a torrent that the API refuses shows its message', async () => {
  const { page } = await site.open('/upload', DESKTOP, member)
  const torrent = Buffer.from('d4:infod6:lengthi0e4:name1:a12:piece lengthi16384e6:pieces0:ee')
  await page.getByLabel('Choose a .torrent file').setInputFiles(fileOf('empty', torrent))
  await page.getByText('Could not read this file.').waitFor()
})

test('a pasted URL becomes the id in it', async () => {
  const { page, problems } = await site.open('/upload', DESKTOP, member)
  await page.getByLabel('Choose a .torrent file').setInputFiles(fileOf('Pasted.Ids.2024'))
  const paste = async (label: string, text: string): Promise<string> => {
    const field = page.getByLabel(label)
    await field.fill('')
    await field.focus()
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`)
    await page.keyboard.press('Control+V')
    return field.inputValue()
  }
  for (const [label, text, id] of ADDRESSES) expect([text, await paste(label, text)]).toEqual([text, id])
  expect(await problems('upload-pasted')).toEqual([])
  for (const [label, text] of OTHER_ADDRESSES) {
    expect(await paste(label, text)).toBe(text)
    expect(await page.getByLabel(label).and(page.locator(':invalid')).count()).toBe(1)
  }
})
