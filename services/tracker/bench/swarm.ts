// Measures what an announce costs Redis, and what a peer takes there, without the HTTP side. See docs/performance.md.
// Usage: pnpm --filter tracker bench:swarm [announces for each measurement] [time | memory]
import { removeTemporaryFolder, startRedis, temporaryFolder } from '@vault-and-tracker/dev-env'
import { Redis } from 'ioredis'
import { timeToLive } from '../src/swarm/interval.ts'
import { createRedisSwarms } from '../src/swarm/swarm.redis.ts'
import { announced, type PeerAnnounce, type SwarmSettings, type Swarms } from '../src/swarm/swarm.ts'
import { idBytes, infoHashOf, peerIdOf, placeOf, portOf } from './numbering.ts'
import { cpuOf } from './servers.ts'
import { print } from './table.ts'
import { machine } from './world.ts'

const INTERVAL = 1800
/** Announces under way at a time, as many as wrk has connections in the other benchmarks. */
const AT_ONCE = 64
const SETTINGS: SwarmSettings = {
  timeToLive: timeToLive(INTERVAL),
  minInterval: 855,
  repeatWindow: 30,
  recoveryInterval: 300,
  maxPeersPerOwner: 5,
  evictsOldest: false,
  keepCountersFor: 21 * 86_400,
  maxBytesPerSecond: 1.25e9,
}
const SIZES = [
  { torrents: 1_000, peers: 10_000 },
  { torrents: 1_000, peers: 100_000 },
  { torrents: 100, peers: 100_000 },
  { torrents: 100_000, peers: 100_000 },
] as const
const MEMORY_SIZES = [200_000, 100_000, 20_000, 2_000, 200].map((torrents) => ({ torrents, peers: 200_000 }))

const announces = Number(process.argv[2] ?? 200_000)
const only = process.argv[3]
const folder = temporaryFolder('bench-swarm')
const server = await startRedis({ dataDir: folder, durable: true })
const redis = new Redis(server.url)
const redisPid = Number(/process_id:(\d+)/.exec(await redis.info('server'))?.[1])
let nowMs = 1_800_000_000_000

function swarmsWith(settings: SwarmSettings): Swarms {
  return createRedisSwarms({ redis, clock: { now: () => nowMs }, settings, random: Math.random })
}

function announceOf(p: number, torrents: number, change: Partial<PeerAnnounce>): PeerAnnounce {
  const { t, k, user } = placeOf(p, torrents)
  const seeds = p % 3 === 0
  return {
    swarm: infoHashOf(t),
    owner: idBytes(user).subarray(8),
    peerId: peerIdOf(p),
    ipv4: Buffer.from([10, (k >> 16) & 255, (k >> 8) & 255, k & 255, portOf(k) >> 8, portOf(k) & 255]),
    ipv6: undefined,
    kind: 'regular',
    state: seeds ? 'seeder' : 'leecher',
    uploaded: p * 1000,
    downloaded: p * 10,
    left: seeds ? 0 : 1_048_576,
    want: 50,
    withPeerIds: false,
    completed: 0,
    expectedPeers: 0,
    account: { user: idBytes(user), torrent: idBytes(t), uploadPercent: 100, downloadPercent: 100 },
    ...change,
  }
}

/** Carries out announces in turn, so many at once. */
async function carryOut(count: number, one: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) await one(n)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

async function empty(): Promise<number> {
  await redis.flushall()
  await redis.call('MEMORY', 'PURGE')
  return usedMemory()
}

async function usedMemory(): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1])
}

/** Processor time of Redis and of its functions alone, and how many functions were called. */
async function usage(): Promise<{ cpu: number; calls: number; micros: number }> {
  const found = /cmdstat_fcall:calls=(\d+),usec=(\d+)/.exec(await redis.info('commandstats'))
  return { cpu: cpuOf(redisPid), calls: Number(found?.[1] ?? 0), micros: Number(found?.[2] ?? 0) }
}

async function measure(name: string, size: (typeof SIZES)[number], one: (n: number) => Promise<unknown>) {
  const before = await usage()
  const own = process.cpuUsage()
  await carryOut(announces, one)
  const { user, system } = process.cpuUsage(own)
  const after = await usage()
  print(
    name,
    size.torrents.toLocaleString('en'),
    size.peers.toLocaleString('en'),
    (((after.cpu - before.cpu) * 1e6) / announces).toFixed(1),
    ((after.micros - before.micros) / announces).toFixed(1),
    ((user + system) / announces).toFixed(1),
    (announces / (after.calls - before.calls)).toFixed(0),
  )
}

/** What accumulates is taken away as by a flush, which a tracker does every few seconds. */
async function dropDeltas(): Promise<void> {
  await redis.unlink(...Array.from({ length: 256 }, (_, tag) => `{${tag.toString(16).padStart(2, '0')}}:du`))
}

async function costs(size: (typeof SIZES)[number]): Promise<void> {
  const { torrents, peers } = size
  await empty()
  const swarms = swarmsWith(SETTINGS)
  /** The peers announce in turn, evenly spread over the interval; so one is due each time. */
  const spread = async (n: number, change: Partial<PeerAnnounce>): Promise<void> => {
    nowMs += (INTERVAL * 1000) / peers
    if (n % 50_000 === 0) await dropDeltas()
    const p = (n * 7919) % peers
    await announced(swarms, announceOf(p, torrents, change))
  }
  await carryOut(peers, (n) => spread(n, { kind: 'started', want: 0 }))
  await measure('regular', size, (n) => spread(n, {}))
  const eager = swarmsWith({ ...SETTINGS, minInterval: 0 })
  await measure('as wrk sends them', size, async (n) => {
    // 10,000 a second, as far as expiry is concerned.
    nowMs += 0.1
    if (n % 50_000 === 0) await dropDeltas()
    const dice = Math.random()
    const p = Math.floor(Math.random() * peers)
    const change: Partial<PeerAnnounce> =
      dice < 0.02
        ? { kind: 'started' }
        : dice < 0.03
          ? { kind: 'completed', state: 'seeder', left: 0 }
          : dice < 0.04
            ? { kind: 'stopped', state: 'stopped' }
            : {}
    await announced(eager, announceOf(p, torrents, change))
  })
}

async function memoryOf(torrents: number, peers: number): Promise<number> {
  const before = await empty()
  const swarms = swarmsWith({ ...SETTINGS, keepCountersFor: 0 })
  await carryOut(peers, (p) =>
    announced(swarms, announceOf(p, torrents, { kind: 'started', want: 0, account: undefined })),
  )
  return ((await usedMemory()) - before) / peers
}

/** The table of times. */
async function measureTimes(): Promise<void> {
  const measured = ['of it functions, us', 'CPU of this process, us', 'announces a call']
  print('announces', 'torrents', 'peers', 'CPU of Redis, us', ...measured)
  print('---', '--:', '--:', '--:', '--:', '--:', '--:')
  for (const size of SIZES) await costs(size)
}

/** The table of memory. */
async function measureMemory(): Promise<void> {
  print('peers in each swarm', 'peers', 'bytes a peer')
  print('--:', '--:', '--:')
  for (const { torrents, peers } of MEMORY_SIZES) {
    const bytes = await memoryOf(torrents, peers)
    print(String(peers / torrents), peers.toLocaleString('en'), bytes.toFixed(0))
  }
}

try {
  const version = /redis_version:(\S+)/.exec(await redis.info('server'))?.[1] ?? ''
  const allocator = /mem_allocator:(\S+)/.exec(await redis.info('memory'))?.[1] ?? ''
  process.stdout.write(`${new Date().toISOString().slice(0, 10)}, ${machine()}, Redis ${version} with ${allocator}\n\n`)
  if (only !== 'memory') await measureTimes()
  process.stdout.write('\n')
  if (only !== 'time') await measureMemory()
} finally {
  redis.disconnect()
  await server.stop()
  removeTemporaryFolder(folder)
}
