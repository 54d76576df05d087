import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { askUntilRefused, eventually } from '@vault-and-tracker/dev-env'
import { announce, rawGet } from './support/announcer.ts'
import { createClient } from './support/client.ts'
import { createAnnouncer, createMember, type TestMember, uploadTorrent } from './support/members.ts'
import { PASSWORD, startTracker, type TestTracker } from './support/tracker.ts'
import { startTrackerProcess, type TrackerProcess } from './support/tracker-process.ts'

let world: TestTracker
let uploader: TestMember
let infoHash: string
/** Two workers that several tests use, one after the other. The last of these tests stops them. */
let tracker: TrackerProcess

beforeAll(async () => {
  world = await startTracker({ ALLOW_PRIVATE_PEERS: 'true' })
  await world.context.useCases.categories.seed()
  uploader = await createMember(world, 'uploader')
  infoHash = (await uploadTorrent(uploader, 'Shared torrent')).infoHash
  tracker = await startTwoWorkers()
})
afterAll(async () => {
  await tracker.process.stop()
  await world.stop()
})

function environment(): Record<string, string> {
  return { DATABASE_URL: world.database.appUrl, REDIS_URL: world.redisUrl }
}

/** Two workers that both listen. Until then the end of one is that of the start. */
async function startTwoWorkers(): Promise<TrackerProcess> {
  const tracker = await startTrackerProcess({ ...environment(), TRACKER_WORKERS: '2' })
  await eventually(() => listened(tracker) === 2)
  return tracker
}

/** How many workers have begun to listen, including those that ended. */
function listened(tracker: TrackerProcess): number {
  return tracker.log().match(/"msg":"listening"/g)?.length ?? 0
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

/** The start time of the newest worker; 0 if the metrics do not contain it. */
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

/** The lines of /proc/net/tcp for sockets that a process has (proc_net_tcp.txt of Linux): its fields 1 to 3 are both ends and the state. */
function socketsOf(pid: number): readonly (readonly string[])[] {
  const process = `/proc/${String(pid)}`
  const links = new Set(readdirSync(`${process}/fd`).map((fd) => linkOf(`${process}/fd/${fd}`)))
  const lines = readFileSync(`${process}/net/tcp`, 'utf8').split('\n')
  return lines.map((line) => line.trim().split(/\s+/)).filter((fields) => links.has(`socket:[${String(fields[9])}]`))
}

/** Whether a process has the server's side of a connection from a local port. */
function hasConnectionFrom(port: number, pid: number): boolean {
  const client = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return socketsOf(pid).some((fields) => fields[2] === client)
}

/** Whether a process accepts connections. */
function isListening(pid: number): boolean {
  return socketsOf(pid).some((fields) => fields[3] === '0A')
}

/** A connection with a request that has no end. */
async function sendHead(url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write(
    'POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
  )
  return socket
}

function destroyAll(agentsOf: ReadonlyMap<number, readonly Agent[]>): void {
  for (const agents of agentsOf.values()) for (const agent of agents) agent.destroy()
}

/** Open connections, a fixed number per worker. The system chooses the worker of each connection. */
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

test('workers share port, swarm and metrics, whose counts remain while a killed worker is replaced', async () => {
  const { pid } = tracker.process
  expect(childrenOf(pid)).toHaveLength(2)
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

  const agentsOf = await connectToAll(tracker, 2)
  const [doomed = 0] = agentsOf.keys()
  const [first = [], second = []] = agentsOf.values()
  const started = newestStart(metrics)
  expect(started).toBeGreaterThan(0)

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
  expect(ofOther).toMatchObject({ status: 'fulfilled', value: { status: 200 } })
  await eventually(() => childrenOf(pid).length === 2 && !childrenOf(pid).includes(doomed))
  await eventually(async () => newestStart(await metricsOf(tracker)) > started)
  // The sums include the counts of the worker that ended.
  expect(await metricsOf(tracker)).toMatch(/^tracker_announces_total\{event="started"\} 8$/m)
  destroyAll(agentsOf)
  for (const member of members) {
    const reply = await announce(tracker.url, member.passkey, { infoHash, event: 'stopped', port: 7000 })
    expect(reply.status).toBe(200)
  }
})

test('one worker logs a code for the first administrator', async () => {
  const [code = '', ...others] = tracker.log().match(/(?<![a-z\d])[a-z2-9]{26}(?![a-z\d])/g) ?? []
  expect(others).toEqual([])
  const administrator = { username: 'first', email: 'first@example.org', password: PASSWORD }
  expect((await createClient(tracker.url).post('/api/setup', { code, ...administrator })).status).toBe(201)
})

test('metrics return 503 while a worker is frozen', async () => {
  const agentsOf = await connectToAll(tracker, 1)
  const [still = 0] = agentsOf.keys()
  const [, [agent = new Agent()] = []] = agentsOf.values()
  process.kill(still, 'SIGSTOP')
  expect(await ask(`${tracker.url}/metrics`, agent)).toMatchObject({ status: 503 })
  process.kill(still, 'SIGCONT')
  expect(await ask(`${tracker.url}/metrics`, agent)).toMatchObject({ status: 200 })
  destroyAll(agentsOf)
})

test('while a worker stops, the others accept all connections', async () => {
  const { pid } = tracker.process
  const [doomed = 0] = childrenOf(pid)
  // It ends no sooner than these requests, whose bodies never come.
  const slow: Socket[] = []
  while (!slow.some(({ localPort = 0 }) => hasConnectionFrom(localPort, doomed))) slow.push(await sendHead(tracker.url))
  process.kill(doomed, 'SIGTERM')
  await eventually(() => tracker.log().includes('"msg":"stopping"'))
  for (let rounds = 0; rounds < 5; rounds += isListening(doomed) ? 0 : 1) {
    const asked = Array.from({ length: 50 }, () => ask(`${tracker.url}/health`, new Agent()))
    for (const { status } of await Promise.all(asked)) expect(status).toBe(200)
  }
  expect(childrenOf(pid)).toContain(doomed)
  for (const socket of slow) socket.destroy()
  await eventually(() => childrenOf(pid).length === 2 && !childrenOf(pid).includes(doomed))
})

test('a signal to all processes, as from a terminal, stops them after they answered all accepted connections', async () => {
  const { pid, exited } = tracker.process
  // Earlier tests ended some, whose replacements may still be starting.
  await eventually(() => childrenOf(pid).length === 2 && childrenOf(pid).every(isListening))
  const workers = childrenOf(pid)
  const clients = askUntilRefused(`${tracker.url}/health`, 20)
  await eventually(() => clients.answered() > 100)
  const before = clients.answered()
  for (const each of [pid, ...workers]) process.kill(each, 'SIGINT')
  expect((await exited).code).toBe(0)
  // The first process closes the port a moment after the last worker, and one connection may be made in between.
  expect((await clients.failures).length).toBeLessThanOrEqual(1)
  expect(clients.answered()).toBeGreaterThan(before)
  for (const worker of workers) expect(() => process.kill(worker, 0)).toThrow()
})

test('a signal to all processes while workers start ends them with 0', async () => {
  const { process: starting } = await startTrackerProcess({ ...environment(), TRACKER_WORKERS: '2' }, () =>
    Promise.resolve(true),
  )
  await eventually(() => childrenOf(starting.pid).length === 2)
  const workers = childrenOf(starting.pid)
  for (const each of [starting.pid, ...workers]) process.kill(each, 'SIGINT')
  expect((await starting.exited).code).toBe(0)
  for (const worker of workers) expect(() => process.kill(worker, 0)).toThrow()
})

test('a signal to the first process stops all, and only the last worker shortens the connection queue', async () => {
  const tracker = await startTwoWorkers()
  const { pid, exited } = tracker.process
  const workers = childrenOf(pid)
  const [first = 0, second = 0] = workers
  process.kill(second, 'SIGSTOP')
  process.kill(pid, 'SIGTERM')
  await eventually(() => !childrenOf(pid).includes(first))
  const { port } = new URL(tracker.url)
  const sockets = Array.from({ length: 10 }, () => connect(Number(port), '127.0.0.1'))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const answers = sockets.map((socket) => text(socket))
  process.kill(second, 'SIGCONT')
  for (const socket of sockets) socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n')
  for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  expect((await exited).code).toBe(0)
  for (const worker of workers) expect(() => process.kill(worker, 0)).toThrow()
})
