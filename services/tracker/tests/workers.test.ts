import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { askUntilRefused, eventually } from '@vault-and-tracker/dev-env'
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

async function metricsOf(tracker: TrackerProcess): Promise<string> {
  return (await rawGet(tracker.url, '/metrics')).bytes.toString('utf8')
}

/** When the worker that was started last was started; 0 where metrics do not tell. */
function newestStart(metrics: string): number {
  return Number(/^service_start_time_seconds ([\d.]+)$/m.exec(metrics)?.[1] ?? 0)
}

/** The status of an answer that was read, and the port that this side of the connection has. */
function ask(url: string, agent: Agent): Promise<{ status: number | undefined; localPort: number | undefined }> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      const { localPort } = response.socket
      response.resume().once('end', () => resolve({ status: response.statusCode, localPort }))
    }).once('error', reject)
  })
}

/** A link of Linux to an open file of a process, undefined once that is closed. */
function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

/** Whether a process has the server's side of a connection from a local port (proc_net_tcp.txt of Linux). */
function hasConnectionFrom(port: number, pid: number): boolean {
  const process = `/proc/${String(pid)}`
  const rows = readFileSync(`${process}/net/tcp`, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
  const remote = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const row = rows.find((each) => each[2] === remote)
  return (
    row !== undefined &&
    readdirSync(`${process}/fd`).some((fd) => linkOf(`${process}/fd/${fd}`) === `socket:[${String(row[9])}]`)
  )
}

/** Connections that stay open, so many of each worker. It is the system that chooses who gets one. */
async function connectToAll(tracker: TrackerProcess, ofEach: number): Promise<ReadonlyMap<number, readonly Agent[]>> {
  const agentsOf = new Map(childrenOf(tracker.process.pid).map((worker) => [worker, [] as Agent[]]))
  while ([...agentsOf.values()].some((agents) => agents.length < ofEach)) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const { localPort = 0 } = await ask(`${tracker.url}/health`, agent)
    const agents = [...agentsOf].find(([worker]) => hasConnectionFrom(localPort, worker))?.[1]
    if (agents !== undefined && agents.length < ofEach) agents.push(agent)
    else agent.destroy()
  }
  return agentsOf
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
  const metrics = await metricsOf(tracker)
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

test('metrics that are asked for as a worker dies are 503 and not those of one worker, and it is replaced', async () => {
  const tracker = await startTwoWorkers()
  const { pid } = tracker.process
  const agentsOf = await connectToAll(tracker, 2)
  const [doomed = 0] = agentsOf.keys()
  const [first = [], second = []] = agentsOf.values()
  const before = await metricsOf(tracker)

  // The first process finds the requests of both workers before it hears that one of them is dead.
  process.kill(pid, 'SIGSTOP')
  const askBoth = (path: string, place: 0 | 1) =>
    Promise.allSettled([first, second].map((agents) => ask(tracker.url + path, agents[place] ?? new Agent())))
  const answers = askBoth('/metrics', 0)
  await askBoth('/health', 1)
  process.kill(doomed, 'SIGKILL')
  process.kill(pid, 'SIGCONT')

  const [ofDead, ofOther] = await answers
  expect(ofDead?.status).toBe('rejected')
  expect(ofOther).toMatchObject({ status: 'fulfilled', value: { status: 503 } })
  await eventually(() => childrenOf(pid).length === 2 && !childrenOf(pid).includes(doomed))
  const started = newestStart(before)
  expect(started).toBeGreaterThan(0)
  await eventually(async () => newestStart(await metricsOf(tracker)) > started)
  for (const agents of [first, second]) for (const agent of agents) agent.destroy()
  expect((await tracker.process.stop()).code).toBe(0)
})

test('workers that stop answer whom they have accepted, and refuse others when they connect', async () => {
  const tracker = await startTwoWorkers()
  const clients = askUntilRefused(`${tracker.url}/health`, 40)
  await eventually(() => clients.answered() > 200)
  const before = clients.answered()
  expect((await tracker.process.stop()).code).toBe(0)
  // The first process closes the port a moment after the last worker, and one connection may be made in between.
  expect((await clients.failures).length).toBeLessThanOrEqual(1)
  expect(clients.answered()).toBeGreaterThan(before)
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
