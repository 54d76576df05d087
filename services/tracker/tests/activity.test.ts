import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { withClient } from '@vault-and-tracker/dev-env'
import { createLedger } from '../src/accounting/ledger.store.ts'
import { writeAccounting } from './support/accounting.ts'
import { announce } from './support/announcer.ts'
import type { Client } from './support/client.ts'
import { createMember, type TestMember, uploadTorrent } from './support/members.ts'
import { setLimits } from './support/torznab.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let admin: Client

const DAY = 86_400_000
const HOUR_S = 3_600
/** Noon of a day in UTC. */
const NOON = Date.UTC(2027, 5, 15, 12)

beforeAll(async () => {
  tracker = await startTracker({ ALLOW_PRIVATE_PEERS: 'true', TRUSTED_PROXIES: '127.0.0.1' })
  tracker.holdClock(NOON)
  await tracker.context.useCases.categories.seed()
  admin = await tracker.signedIn('the-admin', 'admin')
})
afterAll(() => tracker.stop())

type Day = { readonly day: string } & Record<string, number | string | null>
const daysIn = (json: unknown): readonly Day[] => (json as { items: readonly Day[] }).items

test('counts credited transfers by day, with the ratio at the end of the day', async () => {
  const member = await createMember(tracker, 'mover')
  const torrent = await uploadTorrent(member, 'Moved')
  await tracker.sql('update torrents set download_percent = 50 where id = $1', [torrent.id])
  const send = (uploaded: number, downloaded: number, event?: string) =>
    announce(tracker.url, member.passkey, { infoHash: torrent.infoHash, uploaded, downloaded, event })
  const path = `/api/user/${member.id}/history`
  await send(0, 0, 'started')
  tracker.advance(1_000_000)
  await send(100, 400)
  tracker.advance(1_000_000)
  await send(200, 800)
  await writeAccounting(tracker)
  tracker.holdClock(NOON + DAY)
  await send(0, 0, 'started')
  tracker.advance(1_000_000)
  await send(600, 0)
  await writeAccounting(tracker)

  const days = daysIn((await admin.get(`${path}?days=3`)).json)
  const nothing = { uploaded: 0, downloaded: 0, uploadedActual: 0, downloadedActual: 0 }
  expect(days).toEqual([
    { day: '2027-06-14', ...nothing, ratio: null },
    { day: '2027-06-15', uploaded: 200, downloaded: 400, uploadedActual: 200, downloadedActual: 800, ratio: 0.5 },
    { day: '2027-06-16', uploaded: 600, downloaded: 0, uploadedActual: 600, downloadedActual: 0, ratio: 2 },
  ])
  const again = await tracker.signedIn('onlooker')
  expect((await again.get(path)).status).toBe(403)
  expect((await again.get('/api/user/nobody/history')).status).toBe(404)
  expect(daysIn((await admin.get(path)).json)).toHaveLength(30)
  for (const days of ['0', '367', 'all']) expect((await admin.get(`${path}?days=${days}`)).status).toBe(400)

  await createLedger(tracker.db).deleteDays(new Date(NOON + DAY))
  expect(await tracker.sql('select day::text from user_days')).toEqual([{ day: '2027-06-16' }])
})

type OwnItem = { id: string; name: string; state: string; transfer: { isSeeding: boolean } | null }
const ownList = async (member: TestMember, query: string) =>
  (await member.client.get(`/api/user/torrents?${query}`)).json as { items: readonly OwnItem[]; total: number }
const ownNames = async (member: TestMember, query: string) =>
  (await ownList(member, query)).items.map(({ name }) => name)

test('completed torrents must be seeded for 72 hours or to a ratio of 1; unseeded ones come first', async () => {
  tracker.holdClock(NOON)
  const member = await createMember(tracker, 'runner')
  const cases = [
    ['Left early', 'stopped', 10 * HOUR_S, 0, 1000],
    ['Still seeding', 'seeder', 10 * HOUR_S, 0, 1000],
    ['Seeded for long', 'stopped', 72 * HOUR_S, 0, 1000],
    ['Gave back', 'stopped', 0, 1000, 1000],
    ['Not completed', 'leecher', 0, 0, 500],
    ['Rejected', 'stopped', 0, 0, 1000],
    ['Deleted', 'stopped', 0, 0, 1000],
  ] as const
  for (const [i, [name, state, seconds, uploaded, downloaded]] of cases.entries()) {
    const { id } = await uploadTorrent(member, name)
    await tracker.sql(
      `insert into user_torrents (user_id, torrent_id, last_state, seed_seconds, uploaded_actual, downloaded_actual,
         first_seen_at, last_seen_at, completed_at, bytes_left) values ($1, $2, $3, $4, $5, $6, $7, $7, $8, 0)`,
      [
        ...[member.id, id, state, seconds, uploaded, downloaded, new Date(NOON - 60_000)],
        name === 'Not completed' ? null : new Date(NOON - DAY - i * 1_000),
      ],
    )
    if (name === 'Rejected') await admin.post(`/api/admin/torrents/${id}/reject`, { reason: 'Wrong' })
    if (name === 'Deleted') await admin.delete(`/api/torrents/${id}?reason=Copyright`)
  }
  const duties = await ownList(member, 'list=duties')
  expect(duties).toMatchObject({
    total: 2,
    items: [
      { name: 'Left early', transfer: { isSeeding: false, seedSeconds: 10 * HOUR_S, uploaded: 0, downloaded: 1000 } },
      { name: 'Still seeding', transfer: { isSeeding: true } },
    ],
  })
  const totals = async (list: string) => (await member.client.get(`/api/user/torrents/totals?list=${list}`)).json
  const sums = { totalIsExact: true, requiredSeconds: 72 * HOUR_S }
  const size = duties.items.length * (await sizeOf(member))
  expect(await totals('duties')).toEqual({ ...sums, total: 2, size, uploaded: 0, downloaded: 2000 })
  const lenient = await tracker.replica({ SEED_HOURS: '0' })
  const client = lenient.client()
  client.cookie = member.client.cookie
  expect((await client.get('/api/user/torrents?list=duties')).json).toMatchObject({ total: 0, items: [] })
  expect((await client.get('/api/user/torrents/totals?list=duties')).json).toMatchObject({
    requiredSeconds: 0,
    total: 0,
  })
  await lenient.stop()

  expect(await ownNames(member, 'list=seeding')).toEqual(['Still seeding'])
  expect(await ownNames(member, 'list=leeching')).toEqual(['Not completed'])
  // A deleted torrent stays listed with its reason.
  const snatched = await ownList(member, 'list=snatched')
  expect(snatched.items.map(({ name }) => name)).toEqual([
    ...['Left early', 'Still seeding', 'Seeded for long', 'Gave back', 'Rejected', 'Deleted'],
  ])
  expect(snatched.items.slice(4)).toMatchObject([
    { state: 'rejected', reason: 'Wrong' },
    { state: 'deleted', reason: 'Copyright' },
  ])
  expect(await totals('snatched')).toMatchObject({ total: 6, uploaded: 1000, downloaded: 6000 })
  tracker.advance(2 * DAY)
  expect(await ownNames(member, 'list=seeding')).toEqual([])
  expect((await ownList(member, 'list=snatched')).items[1]?.transfer?.isSeeding).toBe(false)
})

test('lists show neither the name nor the reason of a torrent of another member that is not approved', async () => {
  const [uploader, member] = [await createMember(tracker, 'renames'), await createMember(tracker, 'snatches')]
  const { id, infoHash } = await uploadTorrent(uploader, 'Approved name')
  await tracker.sql(
    `insert into user_torrents (user_id, torrent_id, last_state, first_seen_at, last_seen_at, completed_at)
     select id, $1, 'stopped', now(), now(), now() from users where username in ('renames', 'snatches')`,
    [id],
  )
  const listed = async (by: TestMember) => (await ownList(by, 'list=snatched')).items[0]
  expect(await listed(member)).toMatchObject({ name: 'Approved name', reason: null })
  const change = "update torrents set name = 'New name', state = 'pending', state_reason = 'Changed' where id = $1"
  await tracker.sql(change, [id])
  expect(await listed(member)).toMatchObject({ name: infoHash, state: 'pending', reason: null })
  expect(await listed(uploader)).toMatchObject({ name: 'New name', reason: 'Changed' })
  await admin.post(`/api/admin/torrents/${id}/reject`, { reason: 'For you only' })
  expect(await listed(member)).toMatchObject({ name: infoHash, state: 'rejected', reason: null })
  await admin.delete(`/api/torrents/${id}?reason=Copyright`)
  expect(await listed(member)).toMatchObject({ name: infoHash, state: 'deleted', reason: 'Copyright' })
})

test('lists of own torrents are sorted and paged, and show only those of the member', async () => {
  const member = await createMember(tracker, 'sorter')
  const other = await createMember(tracker, 'bystander')
  const names = ['A', 'B', 'C', 'D']
  for (const [i, name] of names.entries()) {
    tracker.advance(1_000)
    const { id } = await uploadTorrent(member, `Sorted ${name}`)
    await tracker.sql('update torrents set size = $2 where id = $1', [id, [30, 10, 40, 20][i]])
    await tracker.sql('update torrent_stats set seeders = $2 where torrent_id = $1', [id, [2, 4, 1, 3][i]])
    if (name === 'D') continue
    await tracker.sql(
      `insert into user_torrents (user_id, torrent_id, last_state, seed_seconds, uploaded_actual, downloaded_actual,
         first_seen_at, last_seen_at, completed_at) values ($1, $2, 'stopped', $3, $4, $5, now(), now(), $6)`,
      [member.id, id, [5, 9, 7][i], [2, 1, 3][i], [8, 8, 9][i], new Date(NOON + i)],
    )
  }
  const orders: Readonly<Record<string, string>> = {
    'list=uploads': 'DCBA',
    'list=uploads&order=asc': 'ABCD',
    'list=uploads&sort=size': 'CADB',
    'list=uploads&sort=seeders&order=asc': 'CADB',
    'list=uploads&sort=uploaded': 'CABD',
    'list=uploads&page=2&limit=3': 'A',
    'list=snatched': 'CBA',
    'list=snatched&sort=seedTime': 'BCA',
    'list=snatched&sort=downloaded': 'CBA',
    'list=snatched&sort=created&order=asc': 'ABC',
    'list=snatched&sort=completed&order=asc&limit=2': 'AB',
    'list=duties&sort=uploaded': 'CAB',
    'list=leeching': '',
  }
  for (const [query, expected] of Object.entries(orders))
    expect([query, (await ownNames(member, query)).map((name) => name.slice(-1)).join('')]).toEqual([query, expected])
  expect(await ownList(member, 'list=uploads&page=2&limit=3')).toMatchObject({ total: 4, totalIsExact: true, page: 2 })
  await tracker.sql('update torrents set size = $2 where uploader_id = $1', [member.id, Number.MAX_SAFE_INTEGER])
  expect((await member.client.get('/api/user/torrents/totals?list=uploads')).json).toMatchObject({
    ...{ total: 4, size: Number.MAX_SAFE_INTEGER },
  })
  for (const list of ['uploads', 'seeding', 'leeching', 'snatched', 'duties'])
    expect(await ownList(other, `list=${list}`)).toMatchObject({ total: 0, items: [] })
  for (const query of ['', 'list=all', 'list=uploads&sort=name', 'list=uploads&order=up', 'list=uploads&list=snatched'])
    expect((await member.client.get(`/api/user/torrents?${query}`)).status).toBe(400)
  expect((await member.client.get('/api/user/torrents/totals')).status).toBe(400)
})

test('lists of own torrents that take long delay no one else', async () => {
  const [member, other] = [await createMember(tracker, 'impatient'), await createMember(tracker, 'unaffected')]
  await withClient(tracker.database.adminUrl, async (client) => {
    await client.query('begin; lock table user_torrents in access exclusive mode')
    const lists = Array.from({ length: 30 }, () => member.client.get('/api/user/torrents?list=snatched'))
    const blocked = Promise.race(lists).then(({ status }) => ({ status, isList: true }))
    const answer = await Promise.race([other.client.get('/api/notices/unread'), blocked])
    expect(answer).toMatchObject({ status: 200, json: { total: 0 } })
    await client.query('rollback')
    await Promise.all(lists)
  })
})

/** The size of each torrent of these tests. */
async function sizeOf(member: TestMember): Promise<number> {
  const { json } = await member.client.get('/api/user/torrents?list=snatched')
  return (json as { items: readonly { size: number }[] }).items[0]?.size ?? Number.NaN
}

test('reading the usage of the Torznab limits does not count against them', async () => {
  tracker.holdClock(NOON + 1_000)
  const member = await createMember(tracker, 'asker')
  await setLimits(tracker, { searches: 2, downloads: 5 })
  const meter = async () => (await member.client.get('/api/user/torznab')).json
  const unused = {
    enabled: true,
    blocked: false,
    addressBlockedUntil: null,
    windowSeconds: 60,
    resetsAt: new Date(NOON + 60_000).toISOString(),
    searches: { used: 0, limit: 2 },
    downloads: { used: 0, limit: 5 },
  }
  expect(await meter()).toEqual(unused)
  const search = () => tracker.client().get(`/api/torznab?t=search&apikey=${member.passkey}`)
  for (let i = 0; i < 3; i += 1) await search()
  expect(await meter()).toEqual({ ...unused, searches: { used: 2, limit: 2 } })
  tracker.advance(59_000)
  expect(await meter()).toEqual({ ...unused, resetsAt: new Date(NOON + 120_000).toISOString() })

  for (let i = 0; i < 12; i += 1) await search()
  const until = new Date(NOON + 60_000 + 300_000).toISOString()
  expect(await meter()).toMatchObject({ addressBlockedUntil: until })
  const id = await member.client.get('/api/user/me')
  await admin.patch(`/api/admin/users/${id.member('id')}`, { apiBlocked: true })
  expect(await meter()).toMatchObject({ blocked: true })
})
