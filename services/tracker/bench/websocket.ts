// Compares WebTorrent signalling with the npm package bittorrent-tracker, in turn under the same load on this machine,
// and prints one table. See docs/performance.md.
// Usage: pnpm --filter tracker bench:websocket [seconds for each measurement]
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { removeTemporaryFolder, temporaryFolder } from '@vault-and-tracker/dev-env'
import { passkeyOf } from './numbering.ts'
import { cpuOf, startNpmTracker, startOurs, type Target } from './servers.ts'
import { print } from './table.ts'
import { connectClient, type Heard, type SocketClient } from './websocket-client.ts'
import { machine, startWorld } from './world.ts'

const seconds = Number(process.argv[2] ?? 8)
const only = process.argv[3]
const folder = temporaryFolder('bench')
const world = await startWorld(folder)
const memoryFile = join(folder, 'memory')
const profiling = process.env['BENCH_PROFILE']
const FLAGS = [
  '--import',
  `${new URL('memory-probe.mjs', import.meta.url).href}?${memoryFile}`,
  ...(profiling === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profiling}`]),
]
/** Offers are numbered, and the times of the last so many known. */
const NUMBERED = 1 << 20

/** Memory is measured from when so many sockets are open, and have announced for some seconds, to when all others have announced. */
const WARM_SOCKETS = 2_500

type Shape = {
  readonly sockets: number
  readonly torrents: number
  readonly offers: number
  /** Announces a second; as fast as they are answered where left out. */
  readonly perSecond?: number
  /** Whether the client changes its role each time, so that no announce is too soon and each goes to Redis. */
  readonly changes: boolean
}

/** Bytes of the process's memory after a collection. */
async function memoryOf({ pid }: Target): Promise<number> {
  rmSync(memoryFile, { force: true })
  process.kill(pid, 'SIGUSR2')
  while (!existsSync(memoryFile)) await sleep(20)
  return (JSON.parse(readFileSync(memoryFile, 'utf8')) as { rss: number }).rss
}

async function measure(name: string, targets: readonly Target[], shape: Shape): Promise<void> {
  const sentAt = new Float64Array(NUMBERED)
  let latencies: number[] = []
  let [replies, offers, answers, sequence] = [0, 0, 0, 0]
  let running = true
  const announce = (client: SocketClient): void => {
    sentAt.fill(performance.now(), sequence % NUMBERED, (sequence % NUMBERED) + shape.offers)
    client.announce(sequence, shape.changes && (turns.get(client) ?? 0) % 2 === 1)
    turns.set(client, (turns.get(client) ?? 0) + 1)
    // A block that is not cut in two by the end.
    sequence += 8
  }
  const heard: Heard = {
    reply: (client) => {
      replies += 1
      if (running && shape.perSecond === undefined) announce(client)
    },
    offer: (number) => {
      offers += 1
      latencies.push(performance.now() - (sentAt[number % NUMBERED] ?? 0))
    },
    answer: () => {
      answers += 1
    },
  }
  const turns = new Map<SocketClient, number>()
  const clients: SocketClient[] = []
  const [first] = targets
  const connectUpTo = async (count: number): Promise<void> => {
    while (clients.length < count) {
      const added = await connectSome(clients.length, Math.min(50, count - clients.length))
      for (const [i, client] of added.entries()) turns.set(client, clients.length + i)
      clients.push(...added)
    }
  }
  const connectSome = (n: number, count: number): Promise<SocketClient[]> =>
    Promise.all(
      Array.from({ length: count }, (_, i) => {
        const target = targets[(n + i) % targets.length]
        if (target === undefined) throw new Error('no target')
        const path = target.users > 0 ? `/announce?passkey=${passkeyOf(n + i)}` : '/'
        // Next to each other in a torrent, and not in a replica.
        const torrent = Math.floor((n + i) / (shape.sockets / shape.torrents))
        const who = { n: n + i, torrent, offers: shape.offers, target: path }
        return connectClient(new URL(target.url), who, heard)
      }),
    )
  const measuresMemory = shape.sockets >= 1_000 && first !== undefined
  let [before, bytes] = [0, 0]
  if (measuresMemory) {
    // What the process needs under load, whatever the number of sockets: compiled code, room for new objects.
    await connectUpTo(WARM_SOCKETS)
    for (const client of clients) announce(client)
    await sleep(5_000)
    running = false
    await sleep(500)
    before = await memoryOf(first)
  }
  // While nobody announces: a server that is busy opens connections slowly.
  await connectUpTo(shape.sockets + (measuresMemory ? WARM_SOCKETS : 0))
  if (measuresMemory) {
    replies = 0
    for (const client of clients) announce(client)
    while (replies < clients.length) await sleep(50)
    await sleep(500)
    bytes = ((await memoryOf(first)) - before) / (shape.sockets / targets.length)
  }
  running = true
  const pacer = pace(shape.perSecond, clients, announce)
  if (shape.perSecond === undefined) for (const client of clients) announce(client)
  // Until the code is compiled.
  await sleep(5_000)
  const cpu = targets.map((target) => target.cpuSeconds())
  const redisCpu = cpuOf(world.redisPid)
  ;[replies, offers, answers, latencies] = [0, 0, 0, []]
  const started = performance.now()
  await sleep(seconds * 1000)
  const elapsed = (performance.now() - started) / 1000
  const redisUsed = cpuOf(world.redisPid) - redisCpu
  const all = targets.reduce((sum, target, i) => sum + target.cpuSeconds() - (cpu[i] ?? 0), 0)
  const used = all - redisUsed * (targets.length - 1)
  const [relayed, announces] = [offers + answers, replies]
  const sorted = latencies.toSorted((a, b) => a - b)
  running = false
  clearInterval(pacer)
  await sleep(500)
  for (const client of clients) client.close()
  await sleep(1_000)
  const at = (part: number): string => (sorted[Math.floor(sorted.length * part)] ?? Number.NaN).toFixed(1)
  print(
    name,
    `${shape.sockets.toLocaleString('en')} x ${String(shape.offers)}`,
    shape.perSecond === undefined ? 'full' : `${String(shape.perSecond)}/s`,
    round(announces / elapsed),
    round(relayed / elapsed),
    round(relayed / used),
    round(announces / used),
    `${String(Math.round((100 * used) / elapsed))} % (${String(Math.round((100 * redisUsed) / elapsed))} %)`,
    shape.offers === 0 ? '' : at(0.5),
    shape.offers === 0 ? '' : at(0.99),
    measuresMemory ? (bytes / 1024).toFixed(1) : '',
  )
}

function round(number: number): string {
  return Math.round(number).toLocaleString('en')
}

/** Announces at a rate, from one client after the other. */
function pace(
  perSecond: number | undefined,
  clients: readonly SocketClient[],
  announce: (client: SocketClient) => void,
): NodeJS.Timeout | undefined {
  if (perSecond === undefined) return undefined
  const started = performance.now()
  let sent = 0
  return setInterval(() => {
    const due = ((performance.now() - started) / 1000) * perSecond
    for (; sent < due; sent++) {
      const client = clients[sent % clients.length]
      if (client !== undefined) announce(client)
    }
  }, 1)
}

/** A client that announces again before its interval has passed: its offers are passed on, and Redis is not told. */
const REPEATED: Shape = { sockets: 200, torrents: 10, offers: 5, changes: false }
const BUSY: Shape = { ...REPEATED, changes: true }
const IDLE: Shape = { sockets: 5_000, torrents: 500, offers: 0, changes: true }
const PACED: Shape = { ...BUSY, perSecond: 800 }
/** The machine's speed changes from minute to minute, so what is compared is measured in turn, more than once. */
const ROUNDS = 3

async function ours(): Promise<Target> {
  return startOurs({
    workers: 1,
    ...world,
    flags: FLAGS,
    env: {
      WS_SOCKETS_PER_ADDRESS: '100000',
      WS_MESSAGES_PER_SECOND: '100000',
    },
  })
}

async function run(
  kind: string,
  name: string,
  shapes: readonly Shape[],
  start: () => Promise<Target[]>,
): Promise<void> {
  if (only !== undefined && only !== kind) return
  for (const shape of shapes) {
    const targets = await start()
    await measure(name, targets, shape)
    await Promise.all(targets.map((target) => target.stop()))
  }
}

process.stdout.write(`${new Date().toISOString().slice(0, 10)}, ${machine()}\n\n`)
print(
  'tracker',
  'sockets x offers',
  'load',
  'announces/s',
  'relayed/s',
  'relayed/s of CPU',
  'announces/s of CPU',
  'CPU (Redis)',
  'relay p50 ms',
  'p99 ms',
  'KB a socket',
)
print('---', '--:', '---', '--:', '--:', '--:', '--:', '--:', '--:', '--:', '--:')
try {
  await world.addTorrents(1_000)
  // Latency first: after thousands of sockets this process, which measures it, collects garbage for longer.
  const peer = async (): Promise<Target[]> => [await startNpmTracker('ws', FLAGS)]
  const one = async (): Promise<Target[]> => [await ours()]
  await run('npm', 'bittorrent-tracker (npm)', [PACED], peer)
  await run('1', 'this tracker', [PACED], one)
  for (let round = 1; round <= ROUNDS; round++) {
    await run('npm', `bittorrent-tracker (npm), round ${String(round)}`, [REPEATED], peer)
    await run('1', `this tracker, round ${String(round)}`, [REPEATED], one)
    await run('redis', `this tracker, each told to Redis, round ${String(round)}`, [BUSY], one)
  }
  await run('npm', 'bittorrent-tracker (npm)', [IDLE], peer)
  await run('1', 'this tracker', [IDLE], one)
  await run('2', 'this tracker, two replicas', [PACED, BUSY], async () => [await ours(), await ours()])
} finally {
  await world.stop()
  removeTemporaryFolder(folder)
}
