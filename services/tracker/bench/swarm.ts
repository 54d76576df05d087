// Measures the cost of an announce in Redis, and the memory per peer, without the HTTP side. See docs/performance.md.
// Usage: pnpm --filter tracker bench:swarm [announces for each measurement] [time | memory]
import { removeTemporaryFolder, startRedis, temporaryFolder } from '@vault-and-tracker/dev-env'
import { cpuOfTree, print, printHead, whole } from '@vault-and-tracker/dev-env/bench'
import { Redis } from 'ioredis'
import { announced, type PeerAnnounce } from '../src/swarm/swarm.ts'
import { announceOf, atOnce, populate, swarmsAt } from './swarms.ts'

const INTERVAL_MS = 1_800_000
const SIZES = [
  { torrents: 1_000, peers: 10_000 },
  { torrents: 1_000, peers: 100_000 },
  { torrents: 100, peers: 100_000 },
  { torrents: 100_000, peers: 100_000 },
] as const
const MEMORY_PEERS = 200_000

const announces = Number(process.argv[2] ?? 200_000)
const only = process.argv[3]
const folder = temporaryFolder('bench-swarm')
const server = await startRedis({ dataDir: folder, durable: true })
const redis = new Redis(server.url)
let nowMs = 1_800_000_000_000

/** The number of calls of functions so far, and their time in microseconds. */
async function functionCalls(): Promise<{ calls: number; micros: number }> {
  const found = /cmdstat_fcall:calls=(\d+),usec=(\d+)/.exec(await redis.info('commandstats'))
  return { calls: Number(found?.[1] ?? 0), micros: Number(found?.[2] ?? 0) }
}

async function measure(
  name: string,
  { torrents, peers }: (typeof SIZES)[number],
  one: (n: number) => Promise<unknown>,
) {
  const [cpu, calls, own] = [cpuOfTree(server.pid), await functionCalls(), process.cpuUsage()]
  await atOnce(announces, one)
  const { user, system } = process.cpuUsage(own)
  const after = await functionCalls()
  const micros = [(cpuOfTree(server.pid) - cpu) * 1e6, after.micros - calls.micros, user + system]
  const each = micros.map((total) => (total / announces).toFixed(1))
  print(name, whole(torrents), whole(peers), ...each, whole(announces / (after.calls - calls.calls)))
}

/** Removes what has accumulated, like the flush of a tracker every few seconds. */
async function dropDeltas(n: number): Promise<void> {
  if (n % 50_000 !== 0) return
  await redis.unlink(...Array.from({ length: 256 }, (_, tag) => `{${tag.toString(16).padStart(2, '0')}}:du`))
}

/** The changes of announces as wrk sends them in the other benchmarks. */
function randomChange(): Partial<PeerAnnounce> {
  const dice = Math.random()
  if (dice < 0.02) return { kind: 'started' }
  if (dice < 0.03) return { kind: 'completed', state: 'seeder', left: 0 }
  return dice < 0.04 ? { kind: 'stopped', state: 'stopped' } : {}
}

async function measureTimes(): Promise<void> {
  const columns = ['CPU of Redis, µs', 'of it functions, µs', 'CPU of this process, µs', 'announces per call']
  printHead('', 'announces', 'torrents', 'peers', ...columns)
  for (const size of SIZES) {
    const { torrents, peers } = size
    await redis.flushall()
    const swarms = swarmsAt(redis, () => nowMs)
    // The peers announce in turn, evenly spread over the interval, so that one is due each time.
    const spread = async (n: number, change: Partial<PeerAnnounce>): Promise<void> => {
      nowMs += INTERVAL_MS / peers
      await dropDeltas(n)
      await announced(swarms, announceOf((n * 7919) % peers, torrents, change))
    }
    await atOnce(peers, (n) => spread(n, { kind: 'started', want: 0 }))
    await measure('regular', size, (n) => spread(n, {}))
    const eager = swarmsAt(redis, () => nowMs, { minInterval: 0 })
    await measure('as wrk sends them', size, async (n) => {
      // 10,000 per second.
      nowMs += 0.1
      await dropDeltas(n)
      await announced(eager, announceOf(Math.floor(Math.random() * peers), torrents, randomChange()))
    })
  }
}

async function measureMemory(): Promise<void> {
  printHead('', 'peers in each swarm', 'peers', 'bytes per peer')
  for (const each of [1, 2, 10, 100, 1_000])
    print(each, whole(MEMORY_PEERS), whole(await populate(redis, MEMORY_PEERS / each, MEMORY_PEERS)))
}

try {
  if (only !== 'memory') await measureTimes()
  if (only !== 'time') await measureMemory()
} finally {
  redis.disconnect()
  await server.stop()
  removeTemporaryFolder(folder)
}
