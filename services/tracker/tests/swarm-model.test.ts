import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { randomFrom, type TestRedis, testRedis } from '@vault-and-tracker/dev-env'
import { Redis } from 'ioredis'
import type { PeerState } from '../src/swarm/peer-state.ts'
import { createRedisSwarms } from '../src/swarm/swarm.redis.ts'
import type { Swarms } from '../src/swarm/swarm.ts'
import { peer, peersOf, SETTINGS, swarmName } from './support/swarm-peers.ts'

const RECORD = 37
const MINUTE = 60_000

let server: TestRedis
let redis: Redis
let swarms: Swarms
let now = 1_800_000_000_000

beforeAll(async () => {
  server = await testRedis()
  redis = new Redis(server.url)
  swarms = createRedisSwarms({ redis, clock: { now: () => now }, settings: SETTINGS, random: Math.random })
})
afterAll(() => redis.quit())

/** The same swarm, as plainly as it can be said. */
type Model = Map<number, { state: PeerState; lastMinute: number }>

function living(model: Model): [number, PeerState][] {
  const minute = Math.floor(now / MINUTE)
  return [...model].filter(([, { lastMinute }]) => lastMinute >= minute).map(([n, { state }]) => [n, state])
}

/** Every record has its index entry and every entry its record, seeders first, none without a place. */
async function checkLayout(swarm: Buffer): Promise<void> {
  const tag = `{${swarm.subarray(0, 1).toString('hex')}}`
  const records = (await redis.getBuffer(Buffer.concat([Buffer.from(`${tag}:p:`), swarm]))) ?? Buffer.alloc(0)
  const flat: unknown = await redis.callBuffer('HGETALL', Buffer.concat([Buffer.from(`${tag}:h:`), swarm]))
  if (!Array.isArray(flat)) throw new Error('not a hash')
  const entries = new Map<string, Buffer>()
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const name: unknown = flat[i]
    const value: unknown = flat[i + 1]
    if (Buffer.isBuffer(name) && Buffer.isBuffer(value)) entries.set(name.toString('hex'), value)
  }
  const head = entries.get('23') ?? Buffer.alloc(8)
  const [seeders, others] = [head.readUInt32BE(0), head.readUInt32BE(4)]
  for (const name of entries.keys()) if (name.length !== 20) entries.delete(name)
  expect(entries.size).toBe(seeders + others)
  for (let place = 0; place < seeders + others; place++) {
    const name = records.subarray(place * RECORD, place * RECORD + 10).toString('hex')
    const entry = entries.get(name)
    expect(entry?.readUIntBE(0, 3)).toBe(place)
    expect((entry?.[21] ?? 0) % 2 === 1).toBe(place < seeders)
  }
}

test.each([1, 2, 3, 4])('three swarms behave as their model through 1,500 announces, seed %i', async (seed) => {
  await server.flush()
  const random = randomFrom(seed)
  const names = [0x01, 0x02, 0x01].map((byte, i) => Buffer.concat([swarmName(byte).subarray(0, 19), Buffer.from([i])]))
  const models: Model[] = names.map((): Model => new Map())
  for (let step = 0; step < 1500; step++) {
    if (random() < 0.02) now += Math.floor(random() * 90) * MINUTE
    now += Math.floor(random() * 20_000)
    const which = Math.floor(random() * names.length)
    const [name, model] = [names[which], models[which]]
    if (!name || !model) throw new Error('no such swarm')
    const n = 1 + Math.floor(random() * 60)
    const known = model.get(n)
    const alive = living(model).some(([each]) => each === n)
    const dice = random()
    const state: PeerState = dice < 0.15 ? 'stopped' : dice < 0.5 ? 'seeder' : dice < 0.9 ? 'leecher' : 'paused'
    const kind = state === 'stopped' ? 'stopped' : random() < 0.3 ? 'started' : 'regular'
    const answer = await swarms.announce(peer(n, { swarm: name, state, kind, left: state === 'seeder' ? 0 : 5 }))

    if (state === 'stopped') {
      model.delete(n)
      if (answer.status === 'stopped_unknown_peer') expect(alive).toBe(false)
    } else if (answer.status === 'announce_too_soon') {
      expect(known?.state).toBe(state)
      expect(alive).toBe(true)
    } else {
      expect(answer.status).toBe('accepted')
      model.set(n, { state, lastMinute: Math.floor((now + SETTINGS.timeToLive * 1000) / MINUTE) })
    }
    const alives = living(model)
    const chosen = peersOf(answer, n, now, 100)
    const allowed = alives.filter(([each, role]) => each !== n && (state === 'leecher' || role !== 'seeder'))
    expect(answer.complete).toBe(alives.filter(([, role]) => role === 'seeder').length)
    expect(answer.incomplete).toBe(alives.filter(([, role]) => role !== 'seeder').length)
    expect(allowed.map(([each]) => each)).toEqual(expect.arrayContaining(chosen))
    expect(new Set(chosen).size).toBe(chosen.length)
    if (step % 50 === 0) await checkLayout(name)
    if (step % 300 === 299) await swarms.sweep()
  }
  const counts = await swarms.count(names.map((name) => ({ name, completed: 0 })))
  for (const [i, model] of models.entries()) {
    const alives = living(model)
    expect(counts[i]).toMatchObject({
      complete: alives.filter(([, role]) => role === 'seeder').length,
      incomplete: alives.filter(([, role]) => role !== 'seeder').length,
      paused: alives.filter(([, role]) => role === 'paused').length,
    })
  }
})
