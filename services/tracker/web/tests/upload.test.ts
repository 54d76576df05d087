import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Client } from '../../tests/support/client.ts'
import { makeTorrent } from '../../tests/support/make-torrent.ts'
import { DESKTOP, type Site, startSite, VIEWS } from './support/site.ts'

let site: Site
let member: Client

beforeAll(async () => {
  site = await startSite()
  member = await site.tracker.signedIn('alice')
})
afterAll(() => site.stop())

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

/** What is pasted into the field of an id, and what it becomes. */
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

/** Addresses that do not tell the id of a film or series. */
const OTHER_ADDRESSES = [
  ['IMDb', 'https://www.imdb.com/name/nm0000151/'],
  ['TMDB', 'https://www.themoviedb.org/person/504-tim-robbins'],
  ['TVDB', 'https://thetvdb.com/series/24'],
] as const

test.each(VIEWS)('a member uploads, corrects what was understood, and seeds our copy ($width px)', async (view) => {
  const name = `The.Long.Harbour.S02E05.1080p.WEB-DL.H.264-GROUP${view.width}`
  const { page, problems } = await site.open('/upload', view, member)
  await page.getByText('or drop it here').waitFor()
  expect(await problems('upload')).toEqual([])
  await page.getByLabel('Choose a .torrent file').setInputFiles(fileOf(name))
  await page.getByRole('heading', { name: 'The Long Harbour' }).waitFor()
  await page.getByLabel('Category').selectOption('tv')
  await page.getByText('TV / HD').waitFor()
  await page.getByLabel('Name').fill(name.replace('1080p', '2160p'))
  await page.getByText('TV / UHD/4K').waitFor()
  expect(await problems('upload-understood')).toEqual([])

  await page.getByLabel('IMDb').fill('tt0000000')
  await page.getByRole('button', { name: 'Upload', exact: true }).click()
  await page.locator('.field-problem').waitFor()
  expect(await problems('upload-refused')).toEqual([])

  await page.getByLabel('IMDb').fill('tt0111161')
  await page.getByRole('button', { name: 'Upload', exact: true }).click()
  await page.getByRole('heading', { name: 'Now seed our copy' }).waitFor()
  expect(await problems('upload-done')).toEqual([])
  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download our copy' }).click()
  expect((await download).suggestedFilename()).toBe(`${name.replace('1080p', '2160p')}.torrent`)
  await page.context().close()
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
])('a file that is no .torrent is called so (%s)', async (name, text) => {
  const { page, problems, context } = await site.open('/upload', DESKTOP, member)
  await page.getByLabel('Choose a .torrent file').setInputFiles(fileOf(name, Buffer.from(text)))
  await page.getByText('This is not a .torrent file.', { exact: true }).waitFor()
  expect(await problems('upload-broken')).toEqual([])
  await context.close()
})

test('a torrent that is not accepted is refused in the words of the API', async () => {
  const { page, context } = await site.open('/upload', DESKTOP, member)
  const torrent = Buffer.from('d4:infod6:lengthi0e4:name1:a12:piece lengthi16384e6:pieces0:ee')
  await page.getByLabel('Choose a .torrent file').setInputFiles(fileOf('empty', torrent))
  await page.getByText('This file cannot be uploaded.').waitFor()
  await context.close()
})

test.each(VIEWS)('an id is taken out of the address of a page that is pasted ($width px)', async (view) => {
  const { page, problems, context } = await site.open('/upload', view, member)
  await page.getByLabel('Choose a .torrent file').setInputFiles(fileOf(`Pasted.Ids.2024.${view.width}`))
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
    expect(await page.getByLabel(label).getAttribute('title')).toMatch(/^(The id|The number)/)
  }
  await context.close()
})
