import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type DurableServers, eventually, startDurableServers, TRIALS } from '@vault-and-tracker/dev-env'
import { damaged } from '@vault-and-tracker/dev-env/fuzz'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { writeAccounting } from './support/accounting.ts'
import { announce, announceQuery, percentBytes, type Reply, rawGet } from './support/announcer.ts'
import { tellOfChange } from './support/invalidations.ts'
import { createAnnouncer, createMember, uploadTorrent } from './support/members.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let servers: DurableServers
let tracker: TestTracker
let alice: { id: string; passkey: string }
let bob: { id: string; passkey: string }
let infoHash: string

beforeAll(async () => {
  servers = await startDurableServers('faults')
  tracker = await startTracker(
    { ALLOW_PRIVATE_PEERS: 'true', ANNOUNCE_LIMIT: '0' },
    { postgres: servers.postgres, redisUrl: servers.redis.url },
  )
  await tracker.context.useCases.categories.seed()
  const uploader = await createMember(tracker, 'uploader')
  alice = await createAnnouncer(tracker, 'alice')
  bob = await createAnnouncer(tracker, 'bob')
  infoHash = (await uploadTorrent(uploader, 'Torrent of the faults')).infoHash
})

afterAll(async () => {
  await tracker.stop()
  await servers.stop()
})

const seed = (uploaded = 0): Promise<Reply> =>
  announce(tracker.url, alice.passkey, { infoHash, left: 0, port: 7001, uploaded })
const leech = (): Promise<Reply> => announce(tracker.url, bob.passkey, { infoHash, port: 7002, event: 'started' })

function expectUnavailable(reply: Reply): void {
  expect(reply.status).toBe(200)
  expect(reply.fields['failure reason']).toBe('The tracker is temporarily unavailable')
  expect(reply.fields['retry in']).toBe(5)
}

test('Redis stopped: announces and scrapes fail as unavailable, and recover by themselves', async () => {
  await seed()
  await servers.redis.kill()
  expectUnavailable(await seed())
  expectUnavailable(
    await rawGet(tracker.url, `/scrape/${bob.passkey}?info_hash=${percentBytes(Buffer.from(infoHash, 'hex'))}`),
  )
  await servers.redis.restart()
  await eventually(async () => (await leech()).fields['failure reason'] === undefined)
  expect((await leech()).peers).toEqual(['127.0.0.1:7001'])
})

test('Redis frozen: announces fail instead of waiting, and recover when it resumes', async () => {
  await seed()
  servers.redis.pause()
  const replies = await Promise.all([seed(), leech(), seed()])
  for (const reply of replies) expectUnavailable(reply)
  servers.redis.resume()
  await eventually(async () => (await seed()).fields['failure reason'] === undefined)
})

test('Redis emptied: the swarm fills again, and returning peers receive a short interval', async () => {
  await seed()
  await leech()
  await writeAccounting(tracker)
  const client = new Redis(servers.redis.url)
  // So that the counts which the database has now are read again.
  await tellOfChange(client, { kind: 'torrent', infoHash })
  await seed()
  await client.flushall()
  client.disconnect()
  const back = await seed()
  expect(back.fields['complete']).toBe(1)
  expect(Number(back.fields['interval'])).toBeLessThanOrEqual(330)
  expect((await leech()).peers).toEqual(['127.0.0.1:7001'])
})

test('Postgres stopped: cached users continue to announce, and their transfer is written later', async () => {
  const uncached = await createAnnouncer(tracker, 'uncached')
  const uploaded = async (): Promise<number> => {
    const found = await tracker.db.selectFrom('users').select('uploaded').where('id', '=', alice.id).execute()
    return found[0]?.uploaded ?? Number.NaN
  }
  tracker.advance(1_800_000)
  await seed(10_000)
  await writeAccounting(tracker)
  const before = await uploaded()
  tracker.advance(1_800_000)
  await seed(11_000)
  await servers.postgres.kill()
  tracker.advance(1_800_000)
  const reply = await seed(15_000)
  expect(reply.fields['complete']).toBe(1)
  expectUnavailable(await announce(tracker.url, uncached.passkey, { infoHash }))
  const round = await tracker.flush()
  tracker.advance(4_000)
  expect(round.written).toBe(0)
  expect((await tracker.flush()).written).toBe(0)
  tracker.advance(1_800_000)
  await seed(16_000)
  await servers.postgres.restart()
  await eventually(async () => {
    await tracker.flush()
    tracker.advance(4_000)
    return (await uploaded().catch(() => 0)) === before + 6_000
  })
  await eventually(async () => {
    const announced = await announce(tracker.url, uncached.passkey, { infoHash })
    return announced.fields['failure reason'] === undefined
  })
})

/** Text that means something to the parsers of queries. */
const TOKENS = ['%', '%f', '%zz', '&', '=', '?', '&&', '-1', '9'.repeat(30), '%00', 'info_hash=', '#', '+', '"', '<']

test('hundreds of malformed requests receive failures in bencode', async () => {
  const valid = announceQuery({
    ...{ infoHash, left: 0, event: 'started', compact: 1, numwant: 50, key: 'abcd', ip: '1.2.3.4' },
  })
  const queries = fc.constantFrom(valid, `passkey=${bob.passkey}&${valid}`)
  const actions = fc.constantFrom('announce', 'announce', 'announce', 'scrape')
  // Node's client sends neither spaces nor control characters.
  const damages = damaged(queries, TOKENS, 6).map((query) => query.replaceAll(/[^!-\xff]/g, encodeURIComponent))
  const targets = fc.tuple(actions, damages).map(([action, query]) => `/${action}?${query}`)
  const seed = Number(process.env['FUZZ_SEED'] ?? '20261121')
  const sent = fc.sample(targets, { seed, numRuns: 300 * TRIALS })
  const statuses = new Set<number>()
  while (sent.length > 0)
    await Promise.all(
      sent.splice(0, 50).map(async (target) => {
        const { status, bytes } = await rawGet(tracker.url, target)
        statuses.add(status)
        // decodeBencode in rawGet throws on anything that is not canonical; an empty answer is one from Node's parser.
        if (status === 200) expect([target, bytes[0]]).toEqual([target, 0x64])
      }),
    )
  // Only the limit of announces is not 200.
  expect([...statuses].filter((status) => ![200, 429].includes(status))).toEqual([])
  expect((await fetch(`${tracker.url}/health`)).status).toBe(200)
  expect(tracker.logged()).not.toContain('announce or scrape failed')
})

test('refuses a request line that is too long, and closes the connection of an endless one', async () => {
  const huge = await rawGet(tracker.url, `/announce?${'a'.repeat(60_000)}`)
  expect(huge.fields['failure reason']).toBe('The query is too long')
  const { hostname, port } = new URL(tracker.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.write('GET /announce?info_hash=')
  const drip = setInterval(() => socket.write('a'), 200)
  await closed
  clearInterval(drip)
  expect((await seed()).status).toBe(200)
})
