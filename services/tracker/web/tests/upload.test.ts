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

test('a file that is no torrent is refused in words', async () => {
  const { page, problems } = await site.open('/upload', DESKTOP, member)
  await page.getByLabel('Choose a .torrent file').setInputFiles(fileOf('broken', Buffer.from('not bencoded')))
  await page.getByText('This file cannot be uploaded.').waitFor()
  expect(await problems('upload-broken')).toEqual([])
})
