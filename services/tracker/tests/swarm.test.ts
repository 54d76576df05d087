import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { type PeerId, parsePeerId } from 'bencode-tracker'
import { type TestRedis, testRedis } from 'dev-env'
import { Redis } from 'ioredis'
import { hurriedInterval, timeToLive } from '../src/swarm/interval.ts'
import { selectPeers } from '../src/swarm/selection.ts'
import { createRedisSwarms } from '../src/swarm/swarm.store.ts'
import type { PeerAnnounce, SwarmAnswer, Swarms, SwarmTerms } from '../src/swarm/swarm.ts'

const TERMS: SwarmTerms = {
  timeToLive: timeToLive(1800),
  minInterval: 870,
  repeatWindow: 30,
  hurriedInterval: hurriedInterval(1800),
  slots: 5,
  evicts: false,
  keepCounters: 21 * 86_400,
  fastest: 1.25e9,
}

let server: TestRedis
let redis: Redis
let swarms: Swarms
const now = 1_800_000_000_000
const clock = { now: () => now }

beforeAll(async () => {
  server = await testRedis()
  redis = new Redis(server.url)
  swarms = createRedisSwarms({ redis, clock, terms: TERMS, random: Math.random })
})
beforeEach(() => server.flush())
afterAll(() => redis.quit())

const SWARM = Buffer.alloc(20, 0xa7)
const torrent = Buffer.alloc(16, 9)

function peerId(n: number): PeerId {
  const id = parsePeerId(n.toString(16).padStart(40, '0'))
  if (id === undefined) throw new Error('not a peer id')
  return id
}

function entry(n: number): Buffer {
  const bytes = Buffer.alloc(6)
  bytes.writeUInt32BE(0x0100_0000 + n)
  bytes.writeUInt16BE(6881, 4)
  return bytes
}

function owner(n: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt32BE(n, 4)
  return bytes
}

function peer(n: number, change: Partial<PeerAnnounce> = {}): PeerAnnounce {
  return {
    swarm: SWARM,
    owner: owner(n),
    peerId: peerId(n),
    ipv4: entry(n),
    ipv6: undefined,
    kind: 'started',
    state: 'leecher',
    uploaded: 0,
    downloaded: 0,
    left: 1000,
    want: 50,
    withPeerIds: false,
    completed: 0,
    account: {
      id: Buffer.concat([Buffer.alloc(12), entry(n).subarray(0, 4), torrent]),
      uploadPercent: 100,
      downloadPercent: 100,
    },
    ...change,
  }
}

function numbersIn(answer: SwarmAnswer, n: number, want = 50): number[] {
  const { peers } = selectPeers(answer, { owner: owner(n), want, now: now / 1000, random: 7 })
  return Array.from({ length: peers.length / 6 }, (_, i) => Buffer.from(peers).readUInt32BE(i * 6) - 0x0100_0000).sort(
    (a, b) => a - b,
  )
}

test('a leecher is told of the others and not of itself', async () => {
  await swarms.announce(peer(1))
  await swarms.announce(peer(2, { state: 'seeder', left: 0 }))
  const answer = await swarms.announce(peer(3))
  expect(answer).toMatchObject({ status: 'accepted', complete: 1, incomplete: 2 })
  expect(numbersIn(answer, 3)).toEqual([1, 2])
})
