import { beforeAll, expect, test } from '@jest/globals'
import type { Client } from '../../tests/support/client.ts'
import { addTorrent, DESKTOP, NARROW, useSite } from './support/site.ts'

const site = useSite({ UPLOAD_APPROVAL: 'manual' })
const NAMES = [
  'The.Long.Harbour.S02E05.Night.Tide.1080p.WEB-DL.DDP5.1.H.264-GROUP',
  'Paper.Moons.2024.2160p.UHD.BluRay.REMUX.HDR10.HEVC.TrueHD.7.1.Atmos-OTHER',
  'Distant.Shores.S01.720p.HDTV.x264-GROUP',
] as const

let member: Client
let moderator: Client

beforeAll(async () => {
  member = await site.tracker.signedIn('uploader')
  moderator = await site.tracker.signedIn('the-moderator', 'moderator')
})

async function uploadAll(): Promise<readonly string[]> {
  await site.tracker.sql('delete from torrents')
  const ids: string[] = []
  for (const name of NAMES)
    ids.push(
      await addTorrent(member, name, {
        files: [
          [`${name}.mkv`, 3_000_000],
          ['readme.txt', 900],
        ],
      }),
    )
  await site.tracker.sql(`update torrents set description = 'Recorded at home.' || chr(10) || 'All of it.'`)
  return ids
}

const stateOf = async (id = ''): Promise<unknown> => {
  const { state, stateReason } = (await moderator.get(`/api/torrents/${id}`)).json as {
    state: string
    stateReason: string | null
  }
  return [state, stateReason]
}

test('a moderator looks through the queue', async () => {
  await uploadAll()
  const { page, problems } = await site.open('/torrents', NARROW, moderator)
  await page.getByRole('link', { name: 'Staff' }).click()
  await page.getByRole('navigation', { name: 'Staff' }).getByRole('link', { name: 'Moderation 3 pending' }).click()
  await page.getByText('3 torrents').waitFor()
  const queue = page.getByRole('list', { name: 'Torrents' })
  await queue.getByRole('link').first().waitFor()
  expect(await problems('moderation-queue')).toEqual([])
  await queue.getByRole('link', { name: 'Paper' }).click()
  await page.getByRole('heading', { name: 'Paper' }).waitFor()
  await page.getByText('readme.txt').waitFor()
  await page.getByText('Recorded at home.').waitFor()
  expect(await problems('moderation-torrent')).toEqual([])
  await page.getByRole('button', { name: 'Reject torrent' }).click()
  await page.getByLabel('Reason').waitFor()
  expect(await problems('moderation-reject')).toEqual([])
})

test('torrents are approved and rejected with keyboard shortcuts', async () => {
  const [first, second, third] = await uploadAll()
  const { page, problems } = await site.open('/admin/moderation', DESKTOP, moderator)
  const heading = (name: string) => page.getByRole('heading', { name })
  await heading('Long.Harbour').waitFor()
  await page.keyboard.press('j')
  await heading('Paper.Moons').waitFor()
  await page.keyboard.press('k')
  await heading('Long.Harbour').waitFor()
  await page.keyboard.press('a')
  await page.getByText('approved.').waitFor()
  await heading('Paper.Moons').waitFor()
  expect(await stateOf(first)).toEqual(['approved', null])
  await page.keyboard.press('r')
  await page.getByLabel('Reason').waitFor()
  await page.keyboard.type('a sample is missing')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByText('rejected.').waitFor()
  await heading('Distant.Shores').waitFor()
  expect(await stateOf(second)).toEqual(['rejected', 'a sample is missing'])
  await page.getByText('1 torrent', { exact: true }).waitFor()
  await page.keyboard.press('a')
  await page.getByText('No torrents are awaiting approval.').waitFor()
  expect(await stateOf(third)).toEqual(['approved', null])
  expect(await problems('moderation-none')).toEqual([])

  await page.getByRole('link', { name: 'Rejected' }).click()
  await page.getByText('Rejected: a sample is missing').waitFor()
  await page.getByRole('button', { name: 'Approve torrent' }).click()
  await page.getByText('No rejected torrents.').waitFor()
  expect(await stateOf(second)).toEqual(['approved', null])
  const admin = await site.tracker.signedIn('reads-the-log', 'admin')
  const { items } = (await admin.get('/api/admin/log')).json as { items: { action: string }[] }
  expect(items.map(({ action }) => action)).toEqual([
    'torrent.approve',
    'torrent.approve',
    'torrent.reject',
    'torrent.approve',
  ])
})

test('a moderator cannot open the pages of administrators', async () => {
  const { page } = await site.open('/admin', DESKTOP, moderator)
  const list = page.getByRole('navigation', { name: 'Staff' })
  await list.getByRole('link', { name: 'Moderation' }).waitFor()
  for (const name of ['Users', 'Categories', 'Site', 'Log'])
    expect(await list.getByRole('link', { name }).count()).toBe(0)
  await page.goto(`${site.tracker.url}/admin/users`)
  await page.getByText('Page not found').waitFor()
})
