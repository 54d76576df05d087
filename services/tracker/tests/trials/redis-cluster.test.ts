import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually, removeTemporaryFolder, temporaryFolder, testRedis } from '@vault-and-tracker/dev-env'
import { Redis } from 'ioredis'
import { writeAccounting } from '../support/accounting.ts'
import { announce, percentBytes, rawGet } from '../support/announcer.ts'
import { createAnnouncer, createMember, uploadTorrent } from '../support/members.ts'
import { metricOf } from '../support/metrics.ts'
import { type RedisCluster, startRedisCluster } from '../support/redis-cluster.ts'
import { startTracker, type TestTracker } from '../support/tracker.ts'

let folder: string
let cluster: RedisCluster
let tracker: TestTracker

beforeAll(async () => {
  folder = temporaryFolder('cluster')
  cluster = await startRedisCluster(folder)
  tracker = await startTracker({ ALLOW_PRIVATE_PEERS: 'true', SWARM_REDIS_URL: cluster.urls.join(',') })
  await tracker.context.useCases.categories.seed()
})
afterAll(async () => {
  await tracker.stop()
  await cluster.stop()
  removeTemporaryFolder(folder)
})

test('swarms in a Redis Cluster are distributed over its nodes and behave as in one Redis', async () => {
  const uploader = await createMember(tracker, 'uploader')
  const seeder = await createAnnouncer(tracker, 'seeder')
  const leecher = await createAnnouncer(tracker, 'leecher')
  const torrents: { id: string; infoHash: string }[] = []
  for (let i = 0; i < 40; i++) torrents.push(await uploadTorrent(uploader, `Torrent number ${String(i)}`))

  await Promise.all(
    torrents.map(({ infoHash }) => announce(tracker.url, seeder.passkey, { infoHash, left: 0, port: 7001 })),
  )
  const replies = await Promise.all(
    torrents.map(({ infoHash }) => announce(tracker.url, leecher.passkey, { infoHash, port: 7002, event: 'started' })),
  )
  for (const reply of replies) expect(reply.peers).toEqual(['127.0.0.1:7001'])

  const query = torrents.map(({ infoHash }) => `info_hash=${percentBytes(Buffer.from(infoHash, 'hex'))}`).join('&')
  const scraped = (await rawGet(tracker.url, `/scrape/${leecher.passkey}?${query}`)).bytes.toString('latin1')
  expect(scraped.match(/8:completei1e10:downloadedi0e11:downloadersi1e10:incompletei1e/g)).toHaveLength(40)

  for (const url of cluster.urls) {
    const node = new Redis(url)
    expect((await node.keys('{*}:s:*')).length).toBeGreaterThan(0)
    node.disconnect()
  }

  tracker.advance(1_800_000)
  await Promise.all(
    torrents.map(({ infoHash }) =>
      announce(tracker.url, seeder.passkey, { infoHash, left: 0, port: 7001, uploaded: 1000 }),
    ),
  )
  await writeAccounting(tracker)
  await expect(tracker.sql('select uploaded from users where id = $1', [seeder.id])).resolves.toEqual([
    { uploaded: '40000' },
  ])
})

test('a single URL that is a node of a Cluster is refused at the start, with the remedy', async () => {
  const [node = ''] = cluster.urls
  await expect(startTracker({ SWARM_REDIS_URL: node })).rejects.toThrow(
    /^This Redis is a node of a Redis Cluster\. SWARM_REDIS_URL/,
  )
  await expect(startTracker({}, { redisUrl: node })).rejects.toThrow(
    /^This Redis is a node of a Redis Cluster\. REDIS_URL/,
  )
})

test('the metrics show a separate Redis for the swarms', async () => {
  const other = await startTracker({ SWARM_REDIS_URL: (await testRedis()).url })
  for (const redis of ['main', 'swarms'])
    expect(await metricOf(other, `redis_memory_used_bytes{redis="${redis}"}`)).toBeGreaterThan(0)
  await other.stop()
})

test('while nodes of the Cluster are down, announces fail as unavailable and the tracker is not ready', async () => {
  const member = await createMember(tracker, 'member')
  const torrents: { infoHash: string }[] = []
  for (let i = 0; i < 20; i++) torrents.push(await uploadTorrent(member, `Torrent of an outage ${String(i)}`))
  const announceAll = () =>
    Promise.all(torrents.map(({ infoHash }) => announce(tracker.url, member.passkey, { infoHash, event: 'started' })))
  const isReady = async (): Promise<boolean> => (await tracker.client().get('/ready')).status === 200
  const reasons = new Set<unknown>()
  const announceUntil = (hasChanged: () => boolean | Promise<boolean>) =>
    eventually(async () => {
      for (const reply of await announceAll()) reasons.add(reply.fields['failure reason'])
      return hasChanged()
    })
  expect(await isReady()).toBe(true)

  await cluster.stopOne()
  await announceUntil(async () => reasons.size > 1 && !(await isReady()))
  await cluster.stop()
  const [reply] = await announceAll()
  expect(reply?.fields['failure reason']).toBe('The tracker is temporarily unavailable')
  expect([...reasons].sort()).toEqual(['The tracker is temporarily unavailable', undefined])
  expect(await isReady()).toBe(false)
  expect(tracker.logged()).not.toContain('announce or scrape failed')
})
