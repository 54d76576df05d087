import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { randomFrom, type TestRedis, TRIALS, testRedis } from '@vault-and-tracker/dev-env'
import { Redis } from 'ioredis'
import type { PeerState } from '../src/swarm/peer-state.ts'
import { peer, peersOf, SETTINGS, swarmName } from './support/swarm-peers.ts'
import { createTestSwarms, type TestSwarms } from './support/swarms.ts'

let server: TestRedis
let redis: Redis
let swarms: TestSwarms
let now = 1_800_000_000_000

beforeAll(async () => {
  server = await testRedis()
  redis = new Redis(server.url)
  swarms = createTestSwarms({ redis, clock: { now: () => now }, settings: SETTINGS, random: Math.random })
})
afterAll(() => redis.quit())

const SEEDS = Array.from({ length: TRIALS }, (_, i) => i + 1)

/** The same swarm in the simplest possible form. */
type Model = Map<number, { state: PeerState; lastMs: number }>

/** The peers that are alive, or were until `sinceMs` ago. */
function living(model: Model, sinceMs = 0): [number, PeerState][] {
  const oldest = now - SETTINGS.timeToLive * 1000 - sinceMs
  return [...model].filter(([, { lastMs }]) => lastMs >= oldest).map(([n, { state }]) => [n, state])
}

/** A swarm is swept again after this time at the earliest. */
const SWEEP_EVERY_MS = 30_000

/** Every place has one peer, seeders first, and its endpoint is that of the peer. */
async function checkLayout(swarm: Buffer): Promise<void> {
  const tag = `{${swarm.subarray(0, 1).toString('hex')}}`
  const key = (kind: string): Buffer => Buffer.concat([Buffer.from(`${tag}:${kind}:`), swarm])
  const entries = new Map<number, { name: Buffer; value: Buffer }>()
  let header: Buffer = Buffer.alloc(27)
  const flat: unknown = await redis.callBuffer('HGETALL', key('s'))
  if (!Array.isArray(flat)) throw new Error('not a hash')
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const name: unknown = flat[i]
    const value: unknown = flat[i + 1]
    if (!Buffer.isBuffer(name) || !Buffer.isBuffer(value)) throw new Error('not bytes')
    if (name.length === 10) entries.set(value.readUIntBE(0, 3), { name, value })
    else if (name.toString() === '#') header = value
  }
  const isLarge = (header[26] ?? 0) % 2 === 1
  const endpoints = isLarge ? await redis.getBuffer(key('4')) : header.subarray(27)
  const names = isLarge ? await redis.getBuffer(key('i')) : undefined
  const [seeders, others] = [header.readUIntBE(0, 3), header.readUIntBE(3, 3) + header.readUIntBE(6, 3)]
  expect(entries.size).toBe(seeders + others)
  for (let place = 0; place < seeders + others; place++) {
    const entry = entries.get(place)
    expect((entry?.value[20] ?? 0) % 2 === 1).toBe(place < seeders)
    expect(endpoints?.subarray(place * 6, place * 6 + 6)).toEqual(entry?.value.subarray(21, 27))
    if (isLarge) expect(names?.subarray(place * 10, place * 10 + 10)).toEqual(entry?.name)
  }
}

test.each(SEEDS)('three swarms behave like their model through 400 announces, seed %i', async (seed) => {
  await server.flush()
  const random = randomFrom(seed)
  const names = [0x01, 0x02, 0x01].map((byte, i) => Buffer.concat([swarmName(byte).subarray(0, 19), Buffer.from([i])]))
  let sweptMs = now
  const models: Model[] = names.map((): Model => new Map())
  for (let step = 0; step < 400; step++) {
    if (random() < 0.02) now += Math.floor(random() * 90) * 60_000
    now += Math.floor(random() * 20_000)
    if (random() < 0.1) {
      await swarms.sweep()
      sweptMs = now
    }
    const lateMs = now - sweptMs + SWEEP_EVERY_MS
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
      model.set(n, { state, lastMs: now })
    }
    const chosen = peersOf(answer, 100)
    const allowed = living(model, lateMs).filter(
      ([each, role]) => each !== n && (state === 'leecher' || role !== 'seeder'),
    )
    for (const [count, isCounted] of [
      [answer.complete, (role: PeerState) => role === 'seeder'],
      [answer.incomplete, (role: PeerState) => role !== 'seeder'],
    ] as const) {
      expect(count).toBeGreaterThanOrEqual(living(model, -1000).filter(([, role]) => isCounted(role)).length)
      expect(count).toBeLessThanOrEqual(living(model, lateMs).filter(([, role]) => isCounted(role)).length)
    }
    expect(allowed.map(([each]) => each)).toEqual(expect.arrayContaining(chosen))
    expect(new Set(chosen).size).toBe(chosen.length)
    if (step % 50 === 0) await checkLayout(name)
  }
  now += SWEEP_EVERY_MS
  await swarms.sweep()
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
