import { readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import { announce, rawGet } from './support/announcer.ts'
import { createClient } from './support/client.ts'
import { createAnnouncer, createMember, type TestMember, uploadTorrent } from './support/members.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'
import { startTrackerProcess, type TrackerProcess } from './support/tracker-process.ts'

let world: TestTracker
let uploader: TestMember
let infoHash: string

beforeAll(async () => {
  world = await startTracker({ ALLOW_PRIVATE_PEERS: 'true' })
  await world.context.useCases.categories.seed()
  uploader = await createMember(world, 'uploader')
  infoHash = (await uploadTorrent(uploader, 'Shared torrent')).infoHash
})
afterAll(() => world.stop())

function environment(): Record<string, string> {
  return { DATABASE_URL: world.database.appUrl, REDIS_URL: world.redisUrl }
}

/** Two workers that both listen. Until then the end of one is that of the start. */
async function startTwoWorkers(): Promise<TrackerProcess> {
  const tracker = await startTrackerProcess({ ...environment(), TRACKER_WORKERS: '2' })
  await eventually(() => tracker.log().match(/"msg":"listening"/g)?.length === 2)
  return tracker
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number)
}

function statusOf(url: string, agent: Agent): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode))
    }).once('error', reject)
  })
}

test('workers share port, swarm and metrics; a dead one is replaced; all stop together', async () => {
  const tracker = await startTwoWorkers()
  const { pid } = tracker.process
  const first = childrenOf(pid)
  expect(first).toHaveLength(2)
  const members = await Promise.all(
    Array.from({ length: 8 }, (_, i) => createAnnouncer(world, `worker-user-${String(i)}`)),
  )
  const seen: number[] = []
  for (const [i, member] of members.entries()) {
    const reply = await announce(tracker.url, member.passkey, { infoHash, port: 7000 + i, event: 'started' })
    seen.push(reply.peers.length)
  }
  expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  const metrics = (await rawGet(tracker.url, '/metrics')).bytes.toString('utf8')
  expect(metrics).toMatch(/^tracker_announces_total\{event="started"\} 8$/m)
  // Of both processes: the worse readiness, the sum of the connections, and one build.
  for (const check of ['postgres', 'redis', 'swarms'])
    expect(metrics).toContain(`\nservice_ready{check="${check}"} 1\n`)
  expect(metrics).toMatch(/^service_build_info\{service="tracker",version="[\d.]+",revision="unknown"\} 1$/m)
  expect(metrics).toMatch(/^postgres_pool_max_connections 20$/m)

  process.kill(first[0] ?? 0, 'SIGKILL')
  await eventually(() => childrenOf(pid).length === 2 && !childrenOf(pid).includes(first[0] ?? 0))
  for (const member of members) {
    const reply = await announce(tracker.url, member.passkey, { infoHash, event: 'stopped', port: 7000 })
    expect(reply.status).toBe(200)
  }
  const all = childrenOf(pid)
  expect((await tracker.process.stop()).code).toBe(0)
  for (const child of all) expect(() => process.kill(child, 0)).toThrow()
})

test('metrics that are asked for as a worker dies are answered, and it is replaced', async () => {
  const tracker = await startTwoWorkers()
  const { pid } = tracker.process
  // Connections go to the workers in turn, so that each has two of these.
  const agents = Array.from({ length: 4 }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
  for (const agent of agents) expect(await statusOf(`${tracker.url}/health`, agent)).toBe(200)
  const doomed = childrenOf(pid)[0] ?? 0

  // The first process finds the requests of both workers before it hears that one of them is dead.
  process.kill(pid, 'SIGSTOP')
  const metrics = agents.slice(0, 2).map((agent) => statusOf(`${tracker.url}/metrics`, agent))
  const answers = Promise.allSettled(metrics)
  await Promise.all(agents.slice(2).map((agent) => statusOf(`${tracker.url}/health`, agent)))
  process.kill(doomed, 'SIGKILL')
  process.kill(pid, 'SIGCONT')

  expect((await answers).filter(({ status }) => status === 'fulfilled')).toEqual([{ status: 'fulfilled', value: 200 }])
  await eventually(() => childrenOf(pid).length === 2 && !childrenOf(pid).includes(doomed))
  for (const agent of agents) agent.destroy()
  expect((await tracker.process.stop()).code).toBe(0)
})

test('two replicas find peers across each other, and one hears of a passkey that was reset at the other', async () => {
  const [one, two] = await Promise.all([startTrackerProcess(environment()), startTrackerProcess(environment())])
  const seeder = await createMember(world, 'replica-seeder')
  const leecher = await createMember(world, 'replica-leecher')
  const torrent = await uploadTorrent(seeder, 'Torrent of two replicas')
  await announce(one.url, seeder.passkey, { infoHash: torrent.infoHash, left: 0, port: 7001, event: 'started' })
  const reply = await announce(two.url, leecher.passkey, { infoHash: torrent.infoHash, port: 7002, event: 'started' })
  expect(reply.peers).toEqual(['127.0.0.1:7001'])

  const client = createClient(one.url)
  client.cookie = leecher.client.cookie
  const reset = await client.post('/api/user/passkey', undefined, { origin: one.url })
  expect(reset.status).toBe(200)
  await eventually(async () => {
    const reply = await announce(two.url, leecher.passkey, { infoHash: torrent.infoHash, port: 7002 })
    return String(reply.fields['failure reason']).startsWith('Unknown passkey')
  })
  const accepted = await announce(two.url, reset.member('passkey'), { infoHash: torrent.infoHash, port: 7002 })
  expect(accepted.fields['complete']).toBe(1)
  const ended = await Promise.all([one.process.stop(), two.process.stop()])
  expect(ended.map(({ code }) => code)).toEqual([0, 0])
})
