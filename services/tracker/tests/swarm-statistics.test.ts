import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import type { AnnounceTally } from '../src/swarm-statistics/announce-rate.ts'
import { createAnnounceTallies } from '../src/swarm-statistics/announce-tallies.redis.ts'
import { createSwarmStatisticsStore } from '../src/swarm-statistics/swarm-statistics.store.ts'
import { writeAccounting } from './support/accounting.ts'
import { announce } from './support/announcer.ts'
import type { Answer, Client } from './support/client.ts'
import { createAnnouncer, createMember, type TestMember, uploadTorrent } from './support/members.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let replica: TestTracker
let admin: Client
let moderator: Client
let uploader: TestMember
/** In the middle of a minute, so that no test meets its end. */
const now = Math.floor(Date.now() / 60_000) * 60_000 + 30_000

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

beforeAll(async () => {
  tracker = await startTracker({ ALLOW_PRIVATE_PEERS: 'true', ALLOW_IP_PARAM: 'true' })
  replica = await tracker.replica()
  for (const each of [tracker, replica]) each.holdClock(now)
  await tracker.context.useCases.categories.seed()
  admin = await tracker.signedIn('the-admin', 'admin')
  moderator = await tracker.signedIn('the-moderator', 'moderator')
  uploader = await createMember(tracker, 'uploader')
})
afterAll(async () => {
  await replica.stop()
  await tracker.stop()
})

/** Waits until the processes have reported their counts of the current ten seconds. */
async function tallied(isComplete: (tally: AnnounceTally) => boolean): Promise<void> {
  const tallies = createAnnounceTallies(tracker.redisClient)
  await eventually(async () => isComplete(await tallies.sum(Math.floor(tracker.now() / 10_000), 1)))
}

type Peer = Record<string, unknown> & { readonly user: { readonly username: string } | null }

const peersOf = (answer: Answer): readonly Peer[] => (answer.json as { items: readonly Peer[] }).items

test('the counts cover the announces of all processes', async () => {
  const torrent = await uploadTorrent(uploader, 'Everywhere')
  const users = await Promise.all(['ann', 'ben', 'cid'].map((name) => createAnnouncer(tracker, name)))
  for (const [index, user] of users.entries())
    await announce((index === 0 ? replica : tracker).url, user.passkey, {
      infoHash: torrent.infoHash,
      event: 'started',
      left: index === 0 ? 0 : 1000,
      ip: `198.51.100.${String(index + 1)}`,
    })
  expect((await announce(replica.url, '0'.repeat(40), { infoHash: torrent.infoHash })).fields).toHaveProperty(
    'failure reason',
  )
  await tallied(({ announces, refused }) => announces === 3 && refused === 1)
  for (const each of [tracker, replica]) each.advance(10_000)
  await writeAccounting(tracker)
  for (const client of [admin, moderator])
    expect((await client.get('/api/admin/swarms')).json).toEqual({
      swarms: 1,
      seeders: 1,
      leechers: 2,
      announces: 0.05,
      refused: 0.02,
    })
  const busiest = await moderator.get('/api/admin/swarms/busiest')
  expect(busiest.json).toMatchObject({ items: [{ id: torrent.id, name: 'Everywhere', seeders: 1, leechers: 2 }] })
})

test('the busiest torrents are those with the most peers, seeders or leechers', async () => {
  for (const [name, seeders, leechers] of [
    ['Many seeders', 90, 1],
    ['Many leechers', 5, 60],
    ['Many of both', 50, 50],
    ['Nobody', 0, 0],
    ['Deleted', 500, 500],
  ] as const) {
    const { id } = await uploadTorrent(uploader, name)
    await tracker.sql('update torrent_stats set seeders = $2, leechers = $3 where torrent_id = $1', [
      id,
      seeders,
      leechers,
    ])
    if (name === 'Deleted') await uploader.client.delete(`/api/torrents/${id}`)
  }
  const namesBy = async (query: string): Promise<readonly string[]> => {
    const { json } = await admin.get(`/api/admin/swarms/busiest?${query}`)
    return (json as { items: readonly { name: string }[] }).items.map(({ name }) => name)
  }
  expect(await namesBy('limit=4')).toEqual(['Many of both', 'Many seeders', 'Many leechers', 'Everywhere'])
  expect(await namesBy('sort=seeders&limit=1')).toEqual(['Many seeders'])
  expect(await namesBy('sort=leechers&limit=2')).toEqual(['Many leechers', 'Many of both'])
})

test('lists the peers of a torrent with user, client, address and transfers', async () => {
  const torrent = await uploadTorrent(uploader, 'Watched')
  const [dan, eve] = [await createAnnouncer(tracker, 'dan'), await createAnnouncer(tracker, 'eve')]
  const send = (passkey: string, parameters: Record<string, string | number>) =>
    announce(tracker.url, passkey, { infoHash: torrent.infoHash, event: 'started', ...parameters })
  await send(dan.passkey, { left: 700, downloaded: 300, peerId: '-qB5010-abcdefghijkl', ip: '198.51.100.7' })
  await send(eve.passkey, { left: 0, uploaded: 5_000_000_000_000, peerId: '-TR4060-abcdefghijkl', ip: '2a00::1' })
  await writeAccounting(tracker)
  const path = `/api/admin/swarms/${torrent.id}/peers`
  const answer = await admin.get(path)
  expect(answer.json).toMatchObject({
    torrent: { id: torrent.id, name: 'Watched' },
    seeders: 1,
    leechers: 1,
    page: 1,
    total: 2,
    items: [
      {
        user: { id: eve.id, username: 'eve' },
        client: 'Transmission 4.0.6',
        state: 'seeder',
        addresses: ['[2a00::1]:6881'],
        uploaded: 5_000_000_000_000,
        downloaded: 0,
        left: 0,
      },
      {
        user: { id: dan.id, username: 'dan' },
        client: 'qBittorrent 5.0.1',
        state: 'leecher',
        addresses: ['198.51.100.7:6881'],
        uploaded: 0,
        downloaded: 300,
        left: 700,
      },
    ],
  })
  const [first] = peersOf(answer)
  expect(Math.abs(Date.parse(String(first?.['lastAnnounce'])) - tracker.now())).toBeLessThan(MINUTE)

  const { json } = await admin.get(`${path}?limit=1&page=2`)
  expect(json).toMatchObject({ total: 2, items: [{ user: { username: 'dan' } }] })
  expect(peersOf(await admin.get(`${path}?limit=1&page=3`))).toEqual([])
  const withoutAddresses = peersOf(await moderator.get(path))
  expect(withoutAddresses.map(({ addresses }) => addresses)).toEqual([null, null])

  // Expired peers do not count, even before they are removed.
  tracker.advance(2 * HOUR)
  expect(peersOf(await admin.get(path))).toEqual([])
})

test('a torrent without a swarm has no peers, and an unknown one returns 404', async () => {
  const { id } = await uploadTorrent(uploader, 'Quiet')
  expect((await admin.get(`/api/admin/swarms/${id}/peers`)).json).toMatchObject({ items: [], total: 0, seeders: 0 })
  for (const unknown of ['nothing', '01890a5d-ac96-774b-bcce-b302099a8057'])
    expect((await admin.get(`/api/admin/swarms/${unknown}/peers`)).status).toBe(404)
})

test.each(['', '/history', '/busiest', '/01890a5d-ac96-774b-bcce-b302099a8057/peers'])(
  'members cannot see /api/admin/swarms%s',
  async (path) => {
    expect((await uploader.client.get(`/api/admin/swarms${path}`)).status).toBe(403)
  },
)

type Step = Record<'start', string> & Record<'seeders' | 'leechers' | 'announces' | 'refused', number | null>

async function history(range: string): Promise<{ stepSeconds: number; items: readonly Step[] }> {
  const answer = await admin.get(`/api/admin/swarms/history?range=${range}`)
  expect(answer.status).toBe(200)
  return answer.json as { stepSeconds: number; items: readonly Step[] }
}

test('keeps minutes for 2 days, hours for 90 days, and days permanently', async () => {
  await tracker.sql('delete from swarm_samples')
  tracker.holdClock(now)
  const store = createSwarmStatisticsStore(tracker.db)
  // Tells these samples from those that the leading process takes meanwhile.
  const counts = { swarms: 12_345, seeders: 1, leechers: 1, announces: 1, refused: 0 }
  for (const daysAgo of [1, 3, 100, 1_000]) await store.write({ ...counts, start: new Date(now - daysAgo * DAY) })
  await tracker.context.useCases.swarmStatistics.prune()
  expect(
    await tracker.sql(
      'select span, count(*)::int as rows from swarm_samples where swarms = 12345 group by 1 order by 1',
    ),
  ).toEqual([
    { span: 'day', rows: 4 },
    { span: 'hour', rows: 2 },
    { span: 'minute', rows: 1 },
  ])
})

test('a sample covers the last full minute and the announces of all processes', async () => {
  const start = now + 10 * DAY - 30_000
  for (const each of [tracker, replica]) {
    each.holdClock(start)
    await announce(each.url, (await createAnnouncer(tracker, each === tracker ? 'fay' : 'gus')).passkey, {
      infoHash: 'f'.repeat(40),
    })
  }
  await tallied(({ refused }) => refused === 2)
  tracker.advance(MINUTE + 14_000)
  await tracker.context.useCases.swarmStatistics.sample()
  const written = () =>
    tracker.sql(`select refused from swarm_samples where span = 'minute' and start = $1`, [new Date(start)])
  expect(await written()).toEqual([])
  tracker.advance(1_000)
  await tracker.context.useCases.swarmStatistics.sample()
  expect(await written()).toEqual([{ refused: '2' }])
})

test('averages samples over the steps of a range, and does not count gaps as zero', async () => {
  // The leading process would take another sample.
  for (const each of [tracker, replica]) await each.context.background.stop()
  await tracker.sql('delete from swarm_samples')
  tracker.holdClock(now)
  const store = createSwarmStatisticsStore(tracker.db)
  const hour = Math.floor(now / HOUR) * HOUR - 2 * HOUR
  for (let minute = 0; minute < 60; minute += 1) {
    const sample = { start: new Date(hour + minute * MINUTE), swarms: 1, seeders: minute, leechers: 10 }
    await store.write({ ...sample, announces: 120, refused: 6 })
    // Another process that leads for a moment as well.
    await store.write({ ...sample, seeders: 1_000, announces: 1_000, refused: 0 })
  }
  const minutes = await history('3h')
  expect([minutes.stepSeconds, minutes.items.length]).toEqual([60, 180])
  const inHour = minutes.items.filter(({ seeders }) => seeders !== null)
  expect(inHour.at(-1)).toEqual({
    start: new Date(hour + 59 * MINUTE).toISOString(),
    seeders: 59,
    leechers: 10,
    announces: 2,
    refused: 0.1,
  })
  expect(minutes.items.at(-1)).toMatchObject({ seeders: null, leechers: null, announces: null, refused: null })

  const day = await history('24h')
  expect([day.stepSeconds, day.items.length]).toEqual([300, 288])
  expect(day.items.filter(({ seeders }) => seeders !== null).map(({ seeders }) => seeders)).toEqual([
    2, 7, 12, 17, 22, 27, 32, 37, 42, 47, 52, 57,
  ])
  for (const [range, length] of [
    ['7d', 168],
    ['30d', 720],
    ['1y', 366],
  ] as const) {
    const { items } = await history(range)
    expect(items).toHaveLength(length)
    expect(items.filter(({ seeders }) => seeders !== null)).toMatchObject([
      { seeders: 30, leechers: 10, announces: 2, refused: 0.1 },
    ])
  }
  expect((await admin.get('/api/admin/swarms/history?range=2h')).status).toBe(400)
})
