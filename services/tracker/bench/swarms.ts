// Peers according to numbering.ts, announced to a swarm store.
import type { Redis } from 'ioredis'
import { timeToLive } from '../src/swarm/interval.ts'
import { createRedisSwarms } from '../src/swarm/swarm.redis.ts'
import { announced, type PeerAnnounce, type SwarmSettings, type Swarms } from '../src/swarm/swarm.ts'
import { idBytes, infoHashOf, peerIdOf, placeOf, portOf } from './numbering.ts'

const SETTINGS: SwarmSettings = {
  ...{ timeToLive: timeToLive(1800), minInterval: 855, repeatWindow: 30, recoveryInterval: 300 },
  ...{ maxPeersPerOwner: 5, evictsOldest: false, keepCountersFor: 21 * 86_400, maxBytesPerSecond: 1.25e9 },
}

export function swarmsAt(redis: Redis, now: () => number, settings: Partial<SwarmSettings> = {}): Swarms {
  return createRedisSwarms({ redis, clock: { now }, settings: { ...SETTINGS, ...settings }, random: Math.random })
}

/** A regular announce of peer p, of which one in three seeds. */
export function announceOf(p: number, torrents: number, change: Partial<PeerAnnounce> = {}): PeerAnnounce {
  const { t, k, user } = placeOf(p, torrents)
  const seeds = p % 3 === 0
  return {
    ...{ swarm: infoHashOf(t), owner: idBytes(user).subarray(8), peerId: peerIdOf(p), kind: 'regular' },
    ipv4: Buffer.from([10, (k >> 16) & 255, (k >> 8) & 255, k & 255, portOf(k) >> 8, portOf(k) & 255]),
    ...{ ipv6: undefined, state: seeds ? 'seeder' : 'leecher', left: seeds ? 0 : 1_048_576 },
    ...{ uploaded: p * 1000, downloaded: p * 10, want: 50, withPeerIds: false, completed: 0, expectedPeers: 0 },
    account: { user: idBytes(user), torrent: idBytes(t), uploadPercent: 100, downloadPercent: 100 },
    ...change,
  }
}

/** Does something `count` times, 64 at a time like the connections of wrk. */
export async function atOnce(count: number, one: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) await one(n)
  }
  await Promise.all(Array.from({ length: 64 }, worker))
}

export async function usedMemory(redis: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1])
}

/** Fills empty swarms with peers. Returns the bytes of Redis per peer. */
export async function populate(redis: Redis, torrents: number, peers: number): Promise<number> {
  await redis.flushall()
  await redis.call('MEMORY', 'PURGE')
  const before = await usedMemory(redis)
  const swarms = swarmsAt(redis, Date.now, { minInterval: 0, keepCountersFor: 0 })
  const change = { kind: 'started', want: 0, account: undefined } as const
  await atOnce(peers, (p) => announced(swarms, announceOf(p, torrents, change)))
  return ((await usedMemory(redis)) - before) / peers
}
