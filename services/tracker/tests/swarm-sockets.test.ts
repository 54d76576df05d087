import { expect, test } from '@jest/globals'
import type { PeerAnnounce, SwarmAnswer } from '../src/swarm/swarm.ts'
import { peer, peersOf, SETTINGS, seeder, swarmName } from './support/swarm-peers.ts'
import { openSwarms } from './support/swarm-world.ts'

const ONE = Buffer.from('process1')
const TWO = Buffer.from('process2')

const { redis, swarms, pass } = await openSwarms()

/** A peer without an address. */
function browser(n: number, change: Partial<PeerAnnounce> = {}): PeerAnnounce {
  return peer(n, { ipv4: undefined, ...change })
}

function announces(announce: PeerAnnounce, process = ONE): Promise<SwarmAnswer> {
  return swarms.announceOverSocket(announce, { process, purpose: 'announces' })
}

function closes(announce: PeerAnnounce, process = ONE): Promise<SwarmAnswer> {
  const stopped = { ...announce, kind: 'stopped', state: 'stopped' } as const
  return swarms.announceOverSocket(stopped, { process, purpose: 'closes' })
}

async function counts(): Promise<unknown> {
  return (await swarms.count([{ name: swarmName(0xa7), completed: 0 }]))[0]
}

/** The bytes that the only user of a test has uploaded. */
async function uploaded(): Promise<number | undefined> {
  const values: unknown = await redis.callBuffer('HVALS', '{a7}:du')
  const delta: unknown = Array.isArray(values) ? values[0] : undefined
  return Buffer.isBuffer(delta) ? delta.readUIntBE(15, 6) : undefined
}

function keysLeft(): Promise<string[]> {
  return redis.keys('*:[hpnwm]:*')
}

test('a peer with a socket is counted, and not picked for HTTP', async () => {
  await announces(browser(1))
  const answer = await swarms.announce(peer(2))
  expect(answer).toMatchObject({ incomplete: 2 })
  expect(peersOf(answer)).toEqual([])
  expect(peersOf(await swarms.announce(peer(3)))).toEqual([2])
})

test('an announce returns the number of sockets of each process by role', async () => {
  await announces(browser(1), TWO)
  await announces(browser(2, { state: 'paused' }), TWO)
  await announces(browser(3, { state: 'seeder', left: 0 }), ONE)
  const answer = await announces(browser(4), ONE)
  if (answer.status === 'held') throw new Error('held')
  const byName = answer.sockets.map(({ process, ...rest }) => [process.toString(), rest])
  expect(Object.fromEntries(byName)).toEqual({
    process1: { seeders: 1, others: 1 },
    process2: { seeders: 1, others: 1 },
  })
})

test('a client over HTTP and a socket is one peer, credited once, until it has left both', async () => {
  await swarms.announce(peer(1, { uploaded: 100 }))
  pass(60)
  await announces(browser(1, { uploaded: 500, kind: 'regular' }))
  pass(900)
  await swarms.announce(peer(1, { uploaded: 600, kind: 'regular' }))
  await expect(counts()).resolves.toMatchObject({ incomplete: 1 })
  expect(await uploaded()).toBe(500)

  await closes(browser(1))
  await expect(counts()).resolves.toMatchObject({ incomplete: 1 })
  expect(peersOf(await swarms.announce(peer(2)))).toEqual([1])
  await announces(browser(1, { uploaded: 600, kind: 'regular' }))
  await swarms.announce(peer(1, { uploaded: 700, kind: 'stopped', state: 'stopped' }))
  await expect(counts()).resolves.toMatchObject({ incomplete: 2 })
  expect(peersOf(await swarms.announce(peer(3)))).toEqual([2])
  await closes(browser(1))
  await expect(counts()).resolves.toMatchObject({ incomplete: 2 })
})

test('a stop over HTTP of a client with only a socket changes nothing', async () => {
  await announces(browser(1))
  const answer = await swarms.announce(peer(1, { kind: 'stopped', state: 'stopped' }))
  expect(answer).toMatchObject({ status: 'stopped_unknown_peer', incomplete: 1 })
  await closes(browser(1))
  expect(await counts()).toMatchObject({ incomplete: 0 })
})

test('a socket that closes keeps the counters for its return', async () => {
  await announces(browser(1, { uploaded: 100 }))
  await closes(browser(1))
  await expect(counts()).resolves.toMatchObject({ incomplete: 0 })
  await announces(browser(1, { uploaded: 150 }))
  expect(await uploaded()).toBe(50)
})

test('a client belongs to another process until it is taken over', async () => {
  await announces(browser(1), TWO)
  await expect(announces(browser(1))).resolves.toMatchObject({ status: 'held', holder: TWO })
  await swarms.announceOverSocket(browser(1), { process: ONE, purpose: 'takes-over' })
  await expect(closes(browser(1), TWO)).resolves.toMatchObject({ status: 'stopped_unknown_peer' })
  await expect(counts()).resolves.toMatchObject({ incomplete: 1 })
  await closes(browser(1))
  await expect(counts()).resolves.toMatchObject({ incomplete: 0 })
  await expect(keysLeft()).resolves.toEqual([])
})

test('a stop over a socket removes the peer and all its data', async () => {
  await announces(browser(1))
  await announces(browser(1, { kind: 'stopped', state: 'stopped' }))
  await expect(counts()).resolves.toMatchObject({ incomplete: 0 })
  await expect(keysLeft()).resolves.toEqual([])
})

test('removes the peers of a stopped process, and no others', async () => {
  for (let n = 1; n <= 500; n++) {
    const swarm = swarmName(n % 7)
    await announces(browser(n, { swarm, ...(n % 3 === 0 && { state: 'seeder', left: 0 }) }), n % 2 === 0 ? ONE : TWO)
  }
  await swarms.announce(peer(2, { swarm: swarmName(2), kind: 'regular' }))
  await swarms.announce(seeder(900, { swarm: swarmName(2) }))
  await swarms.evict(ONE)
  const all = await swarms.count(Array.from({ length: 7 }, (_, i) => ({ name: swarmName(i), completed: 0 })))
  expect(all.reduce((sum, { complete, incomplete }) => sum + complete + incomplete, 0)).toBe(252)
  await swarms.evict(TWO)
  const [third] = await swarms.count([{ name: swarmName(2), completed: 0 }])
  expect(third).toMatchObject({ complete: 1, incomplete: 1 })
  expect(await redis.keys('*:[nwm]:*')).toEqual([])
})

test('a sweep removes expired peers with only a socket, and ends', async () => {
  await announces(browser(1))
  await announces(browser(2, { state: 'seeder', left: 0 }))
  pass(SETTINGS.timeToLive + 120)
  await swarms.sweep()
  expect(await redis.keys('*:[hp]:*')).toEqual([])
})
