import { expect, test } from '@jest/globals'
import { randomFrom, TRIALS } from '@vault-and-tracker/dev-env'
import { createPeerList } from '../src/swarm/peer-list.redis.ts'
import type { PeerAnnounce } from '../src/swarm/swarm.ts'
import { createSwarmNames } from '../src/swarm/swarm-names.redis.ts'
import { ipv4Of, ipv6Of, ownerOf, peer, peerIdOf, peersOf, SETTINGS, seeder, swarmName } from './support/swarm-peers.ts'
import { openSwarms } from './support/swarm-world.ts'
import { createTestSwarms } from './support/swarms.ts'

const INTERVAL = 1800
const SWARM = swarmName(0xa7)

const { redis, swarms, clock, pass, gathered } = await openSwarms()

const countsOf = async (): Promise<unknown> => (await swarms.count([{ name: SWARM, completed: 0 }]))[0]
const regular = (change: Partial<PeerAnnounce> = {}): PeerAnnounce => peer(1, { kind: 'regular', ...change })

/** The keys of swarms alone. */
const swarmKeys = async (): Promise<string[]> =>
  (await redis.keys('*'))
    .filter((key) => !/:(du|dirty|k:\d+)$/.test(key))
    .map((key) => key.slice(0, 7))
    .toSorted()

test('a swarm has separate columns from the seventh peer on, or the second with IPv6, and leaves no key', async () => {
  const stop = { kind: 'stopped', state: 'stopped' } as const
  for (let n = 1; n <= 6; n++) await swarms.announce(peer(n))
  await expect(swarmKeys()).resolves.toEqual(['{a7}:s:', '{a7}:x'])
  expect(peersOf(await swarms.announce(seeder(7)))).toEqual([1, 2, 3, 4, 5, 6])
  await expect(swarmKeys()).resolves.toEqual(['{a7}:4:', '{a7}:i:', '{a7}:s:', '{a7}:x'])
  for (let n = 1; n <= 7; n++) await swarms.announce(peer(n, stop))
  await expect(swarmKeys()).resolves.toEqual([])
  await swarms.announce(peer(1, { ipv4: undefined, ipv6: ipv6Of(1) }))
  await expect(swarmKeys()).resolves.toEqual(['{a7}:s:', '{a7}:x'])
  await swarms.announce(peer(2))
  await expect(swarmKeys()).resolves.toEqual(['{a7}:4:', '{a7}:6:', '{a7}:i:', '{a7}:s:', '{a7}:x'])
  await swarms.announce(peer(1, stop))
  await swarms.announce(peer(2, stop))
  await expect(swarmKeys()).resolves.toEqual([])
})

test.each<[string, Partial<PeerAnnounce>]>([
  ['a leecher over IPv4', {}],
  ['a seeder over IPv6', { state: 'seeder', left: 0, ipv4: undefined, ipv6: ipv6Of(1) }],
  ['a partial seed', { state: 'paused' }],
])('%s that announces regularly is counted and credited, alone and with others', async (_what, change) => {
  const isSeeder = change.state === 'seeder'
  await swarms.announce(peer(1, change))
  for (const uploaded of [1000, 2500]) {
    pass(INTERVAL)
    await expect(swarms.announce(regular({ ...change, uploaded }))).resolves.toMatchObject({
      status: 'accepted',
      complete: isSeeder ? 1 : 0,
      incomplete: isSeeder ? 0 : 1,
      lastAnnounce: clock.now() / 1000 - INTERVAL,
    })
  }
  await swarms.announce(peer(2))
  for (const uploaded of [4000, 8000]) {
    pass(INTERVAL)
    await swarms.announce(peer(2, { kind: 'regular' }))
    const answer = await swarms.announce(regular({ ...change, uploaded, downloaded: 7 }))
    expect(answer).toMatchObject({ complete: isSeeder ? 1 : 0, incomplete: isSeeder ? 1 : 2 })
    expect(peersOf(answer)).toEqual([2])
  }
  const deltas = await gathered()
  expect(deltas.find(({ actualUp }) => actualUp > 0)).toMatchObject({
    actualUp: 8000,
    actualDown: 7,
    seedSeconds: isSeeder ? 4 * INTERVAL : 0,
    state: change.state ?? 'leecher',
  })
})

test('counts are exact the minute after a regular announce would have been due', async () => {
  for (const n of [1, 2, 3]) await swarms.announce(n === 3 ? seeder(n) : peer(n))
  pass(INTERVAL)
  await swarms.announce(regular())
  await swarms.announce(seeder(3, { kind: 'regular' }))
  pass(SETTINGS.timeToLive - INTERVAL + 60)
  await expect(countsOf()).resolves.toMatchObject({ complete: 1, incomplete: 1 })
  pass(INTERVAL)
  await expect(countsOf()).resolves.toMatchObject({ complete: 0, incomplete: 0 })
})

test('a regular announce may come from another port, which others then receive', async () => {
  await swarms.announce(peer(1))
  pass(INTERVAL)
  await swarms.announce(regular({ ipv4: ipv4Of(41) }))
  expect(peersOf(await swarms.announce(peer(2)))).toEqual([41])
  pass(INTERVAL)
  await swarms.announce(regular({ ipv4: ipv4Of(42) }))
  expect(peersOf(await swarms.announce(peer(2)))).toEqual([42])
})

test.each([[[1]], [[1, 2]]])(
  'with peers %j, counters that rise too fast or decrease are not credited',
  async (others) => {
    for (const n of others) await swarms.announce(peer(n))
    pass(INTERVAL)
    const fast = 2 * SETTINGS.maxBytesPerSecond * INTERVAL
    await expect(swarms.announce(regular({ uploaded: fast }))).resolves.toMatchObject({ implausible: true })
    pass(INTERVAL)
    await expect(swarms.announce(regular({ uploaded: 10 }))).resolves.toMatchObject({ status: 'accepted' })
    pass(INTERVAL)
    await swarms.announce(regular({ uploaded: 15 }))
    expect((await gathered()).map(({ actualUp }) => actualUp).sort()).toEqual([...others.slice(1).map(() => 0), 5])
  },
)

test('an expired lone peer is not counted, and is credited when it returns', async () => {
  await swarms.announce(peer(1, { uploaded: 100 }))
  pass(SETTINGS.timeToLive + 60)
  await expect(countsOf()).resolves.toMatchObject({ incomplete: 0 })
  await expect(redis.smembersBuffer('{a7}:dirty')).resolves.toEqual([SWARM])
  await swarms.sweep()
  pass(300)
  await swarms.sweep()
  await expect(swarmKeys()).resolves.toEqual([])
  await expect(swarms.announce(regular({ uploaded: 350 }))).resolves.toMatchObject({ incomplete: 1 })
  await expect(gathered()).resolves.toMatchObject([{ actualUp: 250 }])
})

test('the sweep finds expired lone peers among living ones', async () => {
  const names = Array.from({ length: 250 }, (_, n) => Buffer.concat([Buffer.from([0xa7]), Buffer.alloc(19, n)]))
  for (const swarm of names) await swarms.announce(peer(1, { swarm }))
  await swarms.sweep()
  pass(INTERVAL)
  for (const swarm of names.slice(0, 100)) await swarms.announce(regular({ swarm }))
  pass(SETTINGS.timeToLive - INTERVAL + 60)
  await swarms.sweep()
  await expect(redis.zcard('{a7}:x')).resolves.toBe(100)
  expect((await redis.scard('{a7}:dirty')) >= 150).toBe(true)
  pass(SETTINGS.timeToLive)
  await swarms.sweep()
  await expect(swarmKeys()).resolves.toEqual([])
})

test('reads the peers and names of swarms in both layouts', async () => {
  await swarms.announce(seeder(1, { ipv6: ipv6Of(1), uploaded: 5, downloaded: 6 }))
  await swarms.announce(peer(1, { swarm: swarmName(0xa8) }))
  await swarms.announce(peer(2, { swarm: swarmName(0xa8) }))
  await swarms.sweep()
  const list = createPeerList({ redis, clock, settings: SETTINGS })
  await expect(list.read(SWARM, 0, 10)).resolves.toMatchObject({
    places: 1,
    peers: [{ owner: ownerOf(1), peerId: peerIdOf(1), state: 'seeder', uploaded: 5, downloaded: 6 }],
  })
  await expect(list.read(SWARM, 1, 10)).resolves.toEqual({ places: 1, peers: [] })
  const names = await createSwarmNames(redis)(10)
  expect(names.map((name) => name[0])).toEqual([0xa7, 0xa8])
})

test('an owner is only removed from the given swarms, even as their only peer', async () => {
  await swarms.announce(peer(1, { uploaded: 10 }))
  await swarms.expel(ownerOf(2), [SWARM])
  await expect(countsOf()).resolves.toMatchObject({ incomplete: 1 })
  await swarms.expel(ownerOf(1), [SWARM])
  await expect(countsOf()).resolves.toMatchObject({ incomplete: 0 })
  await swarms.announce(peer(1, { uploaded: 15, kind: 'stopped', state: 'stopped' }))
  await expect(gathered()).resolves.toMatchObject([{ actualUp: 5 }])
})

test('a client replaces another one even if no peer expires in the same minute', async () => {
  const settings = { ...SETTINGS, maxPeersPerOwner: 1, evictsOldest: true, keepCountersFor: 0 }
  const open = createTestSwarms({ redis, clock, settings, random: Math.random })
  const client = (n: number): PeerAnnounce => peer(n, { owner: ownerOf(1), account: undefined })
  await open.announce(client(1))
  pass(120)
  await expect(open.announce(client(2))).resolves.toMatchObject({ status: 'accepted', incomplete: 1 })
  expect(peersOf(await open.announce(peer(8, { account: undefined })))).toEqual([2])
})

test.each(Array.from({ length: TRIALS }, (_, i) => i + 1))(
  'no credit is lost or doubled as peers join and leave small swarms, seed %i',
  async (seed) => {
    const random = randomFrom(seed)
    const int = (below: number): number => Math.floor(random() * below)
    const sessions = new Map<string, { up: number; first: number }>()
    const owed = new Map<string, number>()
    const userAndSwarm = (n: number, which: number): string => `${String(n)} in ${String(which)}`
    const torrentOf = (which: number): Buffer => Buffer.alloc(16, which)
    const one = async (n: number, which: number, change: Partial<PeerAnnounce>): Promise<void> => {
      const key = userAndSwarm(n, which)
      const session = sessions.get(key)
      const up = (session?.up ?? 0) + int(5000)
      const account = { user: Buffer.alloc(16, n), torrent: torrentOf(which), uploadPercent: 100, downloadPercent: 100 }
      const swarm = Buffer.concat([Buffer.from([0xa7]), Buffer.alloc(19, which)])
      await swarms.announce(peer(n, { swarm, uploaded: up, account, ...change }))
      if (change.state !== 'stopped') return void sessions.set(key, { up, first: session?.first ?? up })
      if (session !== undefined) owed.set(key, (owed.get(key) ?? 0) + up - session.first)
      sessions.delete(key)
    }
    for (let step = 0; step < 400; step++) {
      pass(random() < 0.1 ? int(5400) : int(300))
      const state = (['leecher', 'leecher', 'seeder', 'paused', 'stopped'] as const)[int(5)] ?? 'leecher'
      const kind = state === 'stopped' ? 'stopped' : random() < 0.1 ? 'started' : 'regular'
      const families = random() < 0.8 ? {} : { ipv4: undefined, ipv6: ipv6Of(1) }
      await one(1 + int(3), int(8), { state, kind, ...families })
      if (step % 40 === 0) await swarms.sweep()
    }
    // Long enough for everything to be credited.
    pass(INTERVAL)
    for (const key of [...sessions.keys()]) {
      const [n = 0, which = 0] = key.split(' in ').map(Number)
      await one(n, which, { state: 'stopped', kind: 'stopped' })
    }
    const credited = new Map<string, number>()
    for (const { userId, torrentId, actualUp } of await gathered())
      credited.set(
        userAndSwarm(Number.parseInt(userId.slice(-2), 16), Number.parseInt(torrentId.slice(-2), 16)),
        actualUp,
      )
    for (const [key, up] of owed) expect([key, credited.get(key)]).toEqual([key, up])
    pass(300)
    await swarms.sweep()
    await expect(swarmKeys()).resolves.toEqual([])
  },
)
