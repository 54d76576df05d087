// Compares WebTorrent signalling with the npm package bittorrent-tracker, in turn under the same load on this machine.
// See docs/performance.md. Usage: pnpm build && pnpm --filter tracker bench:websocket [seconds for each measurement]
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { print, printHead, quantile, whole } from '@vault-and-tracker/dev-env/bench'
import { startDatabases } from './databases.ts'
import { passkeyOf, USERS } from './numbering.ts'
import { startNpmTracker, startOurs, type Target } from './servers.ts'
import { connectClient, type SocketClient } from './websocket-client.ts'

const seconds = Number(process.argv[2] ?? 8)
/** The speed of the machine changes from minute to minute, so both trackers are measured in turn. */
const ROUNDS = 3
/** Offers are numbered, and the times of this many are remembered. */
const NUMBERED = 1 << 20

type Shape = {
  readonly name: string
  readonly sockets: number
  readonly torrents: number
  readonly offers: number
  /** Announces per second; as fast as they are answered by default. */
  readonly perSecond?: number
  /** Whether the client changes its role each time, so that no announce is too soon and each goes to Redis. */
  readonly changes: boolean
}

const REPEATED: Shape = { name: 'repeated', sockets: 200, torrents: 10, offers: 5, changes: false }
const BUSY: Shape = { ...REPEATED, name: 'each to Redis', changes: true }
const PACED: Shape = { ...BUSY, name: '800/s', perSecond: 800 }
const IDLE: Shape = { name: 'idle', sockets: 5_000, torrents: 500, offers: 0, changes: true }

/** The resident memory of a process in KB (proc(5)). */
function memoryOf({ pid }: Target): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'))?.[1])
}

async function measure(target: Target, shape: Shape): Promise<void> {
  const sentAt = new Float64Array(NUMBERED)
  let latencies: number[] = []
  let [replies, relayed, sequence] = [0, 0, 0]
  let isRunning = true
  const turns = new Map<SocketClient, number>()
  const announce = (client: SocketClient): void => {
    const turn = turns.get(client) ?? 0
    sentAt.fill(performance.now(), sequence % NUMBERED, (sequence % NUMBERED) + shape.offers)
    client.announce(sequence, shape.changes && turn % 2 === 1)
    turns.set(client, turn + 1)
    // Blocks of eight are not split at the end of the list.
    sequence += 8
  }
  const heard = {
    reply: (client: SocketClient) => {
      replies += 1
      if (isRunning && shape.perSecond === undefined) announce(client)
    },
    offer: (number: number) => {
      relayed += 1
      latencies.push(performance.now() - (sentAt[number % NUMBERED] ?? 0))
    },
    answer: () => (relayed += 1),
  }
  const before = memoryOf(target)
  while (turns.size < shape.sockets)
    await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        const n = turns.size + i
        const path = target.users > 0 ? `/announce?passkey=${passkeyOf(n)}` : '/'
        const torrent = Math.floor(n / (shape.sockets / shape.torrents))
        return await connectClient(new URL(target.url), { n, torrent, offers: shape.offers, target: path }, heard)
      }),
    ).then((added) => {
      for (const [i, client] of added.entries()) turns.set(client, i)
    })
  const clients = [...turns.keys()]
  const pacer = pace(shape.perSecond, clients, announce)
  if (shape.perSecond === undefined) for (const client of clients) announce(client)
  // Until the code is compiled.
  await sleep(5_000)
  const cpu = target.cpuSeconds()
  ;[replies, relayed, latencies] = [0, 0, []]
  await sleep(seconds * 1000)
  const used = target.cpuSeconds() - cpu
  const perSecond = [replies, relayed].map((count) => whole(count / seconds))
  const perCpu = [replies, relayed].map((count) => whole(count / used))
  const latency = [0.5, 0.99].map((share) => (shape.offers === 0 ? '' : quantile(latencies, share).toFixed(1)))
  const memory = shape === IDLE ? ((memoryOf(target) - before) / shape.sockets).toFixed(1) : ''
  isRunning = false
  clearInterval(pacer)
  await sleep(500)
  for (const client of clients) client.close()
  const load = `${whole(shape.sockets)} × ${String(shape.offers)}, ${shape.name}`
  print(target.name, load, ...perSecond, ...perCpu, `${whole((100 * used) / seconds)} %`, ...latency, memory)
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
    for (; sent < ((performance.now() - started) / 1000) * perSecond; sent++) {
      const client = clients[sent % clients.length]
      if (client !== undefined) announce(client)
    }
  }, 1)
}

const databases = await startDatabases()
const WEBSOCKET = { WS_SOCKETS_PER_ADDRESS: '100000', WS_MESSAGES_PER_SECOND: '100000' }

async function measureBoth(shapes: readonly Shape[]): Promise<void> {
  for (const shape of shapes)
    for (const start of [() => startNpmTracker('ws'), () => startOurs(databases, { env: WEBSOCKET })]) {
      const target = await start()
      await measure(target, shape)
      await target.stop()
    }
}

try {
  await databases.addUsers(USERS)
  await databases.addTorrents(1_000)
  const head = ['announces/s', 'relayed/s', 'announces/s of CPU', 'relayed/s of CPU', 'CPU', 'relay p50 ms', 'p99 ms']
  printHead('', 'tracker', 'sockets × offers, load', ...head, 'KB per socket')
  // Latency first: after thousands of sockets this process, which measures it, collects garbage for longer.
  await measureBoth([PACED, ...Array.from({ length: ROUNDS }, () => REPEATED), BUSY, IDLE])
} finally {
  await databases.stop()
}
