import { afterAll, beforeEach } from '@jest/globals'
import { testRedis } from '@vault-and-tracker/dev-env'
import { Redis } from 'ioredis'
import type { Delta } from '../../src/swarm/swarm.ts'
import { decodeDelta } from '../../src/swarm/wire.ts'
import { SETTINGS } from './swarm-peers.ts'
import { createTestSwarms, type TestSwarms } from './swarms.ts'

const BEGINNING_MS = 1_800_000_000_000

/** Swarms in the Redis of this worker, on a clock that the test moves. */
export type SwarmWorld = {
  readonly redis: Redis
  readonly swarms: TestSwarms
  readonly clock: { readonly now: () => number }
  readonly pass: (seconds: number) => void
  /** The accumulated deltas of users under a key. */
  readonly gathered: (key?: string) => Promise<Delta[]>
}

/** Opens the swarms of a test file. Redis and the clock are reset before each test. */
export async function openSwarms(): Promise<SwarmWorld> {
  const server = await testRedis()
  const redis = new Redis(server.url)
  let now = BEGINNING_MS
  const clock = { now: () => now }
  beforeEach(async () => {
    now = BEGINNING_MS
    await server.flush()
  })
  afterAll(() => redis.quit())
  return {
    redis,
    clock,
    swarms: createTestSwarms({ redis, clock, settings: SETTINGS, random: Math.random }),
    pass: (seconds) => {
      now += seconds * 1000
    },
    gathered: async (key = '{a7}:du') => {
      const fields = await redis.hkeysBuffer(key)
      return Promise.all(
        fields.map(async (field) => decodeDelta(field, (await redis.hgetBuffer(key, field)) ?? Buffer.alloc(0))),
      )
    },
  }
}
