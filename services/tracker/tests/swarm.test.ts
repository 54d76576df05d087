import { expect, test } from '@jest/globals'
import { listPeers, selectPeers } from '../src/swarm/selection.ts'
import { ipv4Of, ipv6Of, ownerOf, peer, peerIdOf, peersOf, SETTINGS, seeder, swarmName } from './support/swarm-peers.ts'
import { openSwarms } from './support/swarm-world.ts'
import { createTestSwarms } from './support/swarms.ts'

const { redis, swarms, clock, pass } = await openSwarms()

async function countsOf(swarm: Buffer): Promise<unknown> {
  return (await swarms.count([{ name: swarm, completed: 0 }]))[0]
}

test('a leecher receives the other peers but not itself', async () => {
  await swarms.announce(peer(1))
  await swarms.announce(seeder(2))
  const answer = await swarms.announce(peer(3))
  expect(answer).toMatchObject({ status: 'accepted', complete: 1, incomplete: 2 })
  expect(peersOf(answer)).toEqual([1, 2])
})

test('seeders and partial seeds receive leechers only', async () => {
  await swarms.announce(peer(1))
  await swarms.announce(seeder(2))
  expect(peersOf(await swarms.announce(seeder(3)))).toEqual([1])
  expect(peersOf(await swarms.announce(peer(4, { state: 'paused' })))).toEqual([1])
})

test('users do not receive their own other clients', async () => {
  await swarms.announce(peer(1))
  await swarms.announce(peer(2, { owner: ownerOf(9) }))
  expect(peersOf(await swarms.announce(peer(3, { owner: ownerOf(9) })))).toEqual([1])
})

test('a peer with numwant 0 or a stop receives no peers', async () => {
  await swarms.announce(seeder(1))
  expect((await swarms.announce(peer(2, { want: 0 }))).picked.count).toBe(0)
  expect((await swarms.announce(peer(2, { kind: 'stopped', state: 'stopped', want: 50 }))).picked.count).toBe(0)
})

test('a leecher that completes becomes a seeder and is counted once', async () => {
  // In private mode, the database counts completions.
  await swarms.announce(peer(1, { account: undefined }))
  const completed = seeder(1, { kind: 'completed', account: undefined })
  await expect(swarms.announce(completed)).resolves.toMatchObject({ complete: 1, incomplete: 0, completed: 1 })
  await expect(swarms.announce(completed)).resolves.toMatchObject({ complete: 1, incomplete: 0, completed: 1 })
})

test('paused peers are counted as incomplete and also separately', async () => {
  await swarms.announce(peer(1))
  await swarms.announce(peer(2, { state: 'paused' }))
  await expect(countsOf(swarmName(0xa7))).resolves.toEqual({ complete: 0, incomplete: 2, paused: 1, completed: 0 })
})

test('the count of completions never falls below that of the database', async () => {
  const account = undefined
  await expect(swarms.announce(peer(1, { completed: 41, account }))).resolves.toMatchObject({ completed: 41 })
  const completed = seeder(1, { kind: 'completed', completed: 41, account })
  await expect(swarms.announce(completed)).resolves.toMatchObject({ completed: 42 })
})

test('a peer that starts complete does not count as a completion', async () => {
  const answer = await swarms.announce(seeder(1, { kind: 'completed', account: undefined }))
  expect(answer).toMatchObject({ complete: 1, completed: 0 })
})

test('a second machine with the same peer id receives replies and changes nothing, until the first one has left', async () => {
  await swarms.announce(seeder(2))
  await swarms.announce(peer(1, { uploaded: 5000 }))
  const twin = peer(1, { ipv4: ipv4Of(77), uploaded: 10 })
  const answer = await swarms.announce(twin)
  expect(answer).toMatchObject({ status: 'accepted', elsewhere: true, complete: 1, incomplete: 1 })
  expect(peersOf(answer)).toEqual([2])
  await expect(swarms.announce({ ...twin, kind: 'stopped', state: 'stopped' })).resolves.toMatchObject({
    status: 'stopped_unknown_peer',
    incomplete: 1,
  })
  expect(peersOf(await swarms.announce(seeder(3)))).toEqual([1])
  pass(SETTINGS.timeToLive + 120)
  await expect(swarms.announce(twin)).resolves.toMatchObject({ elsewhere: false, incomplete: 1 })
  expect(peersOf(await swarms.announce(seeder(3)))).toEqual([77])
})

test('IPv4 and IPv6 announces of one client are one peer with two addresses', async () => {
  await swarms.announce(peer(1))
  await expect(swarms.announce(peer(1, { kind: 'regular', ipv4: undefined, ipv6: ipv6Of(1) }))).resolves.toMatchObject({
    incomplete: 1,
    status: 'accepted',
  })
  const answer = await swarms.announce(peer(2))
  const chosen = selectPeers(answer.picked, { want: 50, random: 0 })
  expect(Buffer.from(chosen.peers)).toEqual(ipv4Of(1))
  expect(Buffer.from(chosen.peers6)).toEqual(ipv6Of(1))
})

test('both addresses stay when the peer becomes a seeder, until one is no longer confirmed', async () => {
  await swarms.announce(peer(1))
  await swarms.announce(peer(1, { ipv4: undefined, ipv6: ipv6Of(1) }))
  await swarms.announce(seeder(1, { kind: 'completed' }))
  const both = await swarms.announce(peer(2))
  expect(selectPeers(both.picked, { want: 9, random: 0 }).peers6).toHaveLength(18)
  for (let i = 0; i < 3; i++) {
    pass(1800)
    await swarms.announce(seeder(1, { kind: 'regular' }))
  }
  const one = await swarms.announce(peer(2))
  const chosen = selectPeers(one.picked, { want: 9, random: 0 })
  expect(chosen.peers6).toHaveLength(0)
  expect(chosen.peers).toHaveLength(6)
})

test('the list form names each address with the peer id', async () => {
  await swarms.announce(peer(1))
  await swarms.announce(peer(1, { ipv4: undefined, ipv6: ipv6Of(1) }))
  const answer = await swarms.announce(peer(2, { withPeerIds: true }))
  const listed = listPeers(answer.picked, { want: 50, random: 3 })
  expect(listed.map(({ peerId, port, address }) => [peerId, port, address.length])).toEqual([
    [peerIdOf(1), 6881, 4],
    [peerIdOf(1), 6881, 16],
  ])
})

test('an address that must not be returned is not', async () => {
  await swarms.announce(peer(1, { ipv4: Buffer.alloc(6) }))
  const answer = await swarms.announce(peer(2))
  expect(answer.incomplete).toBe(2)
  expect(peersOf(answer)).toEqual([])
})

test('a stop of an unknown peer is reported as such and changes nothing', async () => {
  await expect(swarms.announce(peer(1, { kind: 'stopped', state: 'stopped' }))).resolves.toMatchObject({
    status: 'stopped_unknown_peer',
    complete: 0,
    incomplete: 0,
  })
  await expect(redis.dbsize()).resolves.toBe(0)
})

test('a user has at most as many clients in a swarm as slots, and slots become free again', async () => {
  const client = (n: number) => peer(n, { owner: ownerOf(1) })
  for (let n = 1; n <= SETTINGS.maxPeersPerOwner; n++)
    await expect(swarms.announce(client(n))).resolves.toMatchObject({ status: 'accepted' })
  await expect(swarms.announce(client(6))).resolves.toMatchObject({ status: 'slots_full', incomplete: 5 })
  await swarms.announce({ ...client(2), kind: 'stopped', state: 'stopped' })
  await expect(swarms.announce(client(6))).resolves.toMatchObject({ status: 'accepted', incomplete: 5 })
  pass(SETTINGS.timeToLive + 120)
  await expect(swarms.announce(client(7))).resolves.toMatchObject({ status: 'accepted', incomplete: 1 })
})

test('if a new client may replace another, the one with the oldest announce is removed', async () => {
  const open = createTestSwarms({
    redis,
    clock,
    settings: { ...SETTINGS, maxPeersPerOwner: 2, evictsOldest: true, keepCountersFor: 0 },
    random: Math.random,
  })
  const client = (n: number) => peer(n, { owner: ownerOf(1), account: undefined })
  await open.announce(client(1))
  pass(1)
  await open.announce(client(2))
  pass(1)
  await expect(open.announce(client(3))).resolves.toMatchObject({ status: 'accepted', incomplete: 2 })
  expect(peersOf(await open.announce(peer(8, { account: undefined })))).toEqual([2, 3])
})

test('a repetition receives a full reply, an announce too soon one without peers', async () => {
  const regular = peer(1, { kind: 'regular' })
  await swarms.announce(seeder(2))
  await swarms.announce(peer(1))
  const started = clock.now() / 1000
  pass(20)
  expect(peersOf(await swarms.announce(regular))).toEqual([2])
  pass(40)
  await expect(swarms.announce(regular)).resolves.toMatchObject({
    status: 'announce_too_soon',
    lastAnnounce: started,
    complete: 1,
  })
  pass(SETTINGS.minInterval - 60)
  await expect(swarms.announce(regular)).resolves.toMatchObject({ status: 'accepted' })
})

test.each([
  ['a new address', { ipv4: ipv4Of(77) }],
  ['another port', { ipv4: ipv4Of(1, 7000) }],
  ['the other family', { ipv4: undefined, ipv6: ipv6Of(1) }],
  ['having everything', { state: 'seeder' as const, left: 0 }],
  ['being paused', { state: 'paused' as const }],
  ['an event', { kind: 'started' as const }],
])('%s is a change, and never too soon', async (_what, change) => {
  await swarms.announce(peer(1))
  pass(60)
  await expect(swarms.announce(peer(1, { kind: 'regular', ...change }))).resolves.toMatchObject({ status: 'accepted' })
})

test('detects a peer that returns to a swarm lost by Redis, which may then announce early', async () => {
  const back = peer(1, { kind: 'regular', expectedPeers: 5 })
  await expect(swarms.announce(back)).resolves.toMatchObject({ rejoined: true, incomplete: 1 })
  pass(SETTINGS.recoveryInterval + 1)
  await expect(swarms.announce(back)).resolves.toMatchObject({ status: 'accepted', rejoined: false })
  pass(SETTINGS.recoveryInterval + 1)
  await expect(swarms.announce(back)).resolves.toMatchObject({ status: 'announce_too_soon' })
})

test.each([
  ['starts', { kind: 'started' as const, expectedPeers: 5 }],
  ['is all there was', { kind: 'regular' as const, expected: 1 }],
])('a peer that %s receives the usual interval', async (_what, change) => {
  await expect(swarms.announce(peer(1, change))).resolves.toMatchObject({ rejoined: false })
})

test('loads functions again if they were lost', async () => {
  await swarms.announce(peer(1))
  await redis.call('FUNCTION', 'FLUSH')
  const answers = await Promise.all([swarms.announce(peer(2)), swarms.announce(peer(3)), swarms.announce(peer(4))])
  expect(answers.at(-1)).toMatchObject({ incomplete: 4 })
})

test('counts of a large swarm are exact after a sweep, and expired peers are never returned', async () => {
  for (let n = 1; n <= 300; n++) await swarms.announce(n % 3 === 0 ? seeder(n) : peer(n))
  pass(1800)
  for (let n = 1; n <= 30; n++)
    await swarms.announce(n % 3 === 0 ? seeder(n, { kind: 'regular' }) : peer(n, { kind: 'regular' }))
  pass(SETTINGS.timeToLive - 1800 + 60)
  await swarms.sweep()
  await expect(countsOf(swarmName(0xa7))).resolves.toMatchObject({ complete: 10, incomplete: 20 })
  const answer = await swarms.announce(peer(1, { kind: 'regular', want: 100 }))
  expect(answer).toMatchObject({ complete: 10, incomplete: 20 })
  expect(peersOf(answer).every((n) => n <= 30)).toBe(true)
})

test('an empty swarm leaves no key', async () => {
  await swarms.announce(peer(1, { account: undefined }))
  await swarms.announce(seeder(2, { account: undefined }))
  await swarms.announce(peer(1, { kind: 'stopped', state: 'stopped', account: undefined }))
  await swarms.announce(peer(2, { kind: 'stopped', state: 'stopped', account: undefined }))
  await expect(redis.keys('*')).resolves.toEqual(['{a7}:dirty'])
})

test('sweeps remove silent swarms, and only keep counters that may be needed again', async () => {
  for (let n = 1; n <= 200; n++) await swarms.announce(n % 2 === 0 ? seeder(n) : peer(n))
  await swarms.announce(peer(1, { swarm: swarmName(0xb0) }))
  pass(1000)
  await swarms.sweep()
  await expect(countsOf(swarmName(0xa7))).resolves.toMatchObject({ complete: 100, incomplete: 100 })
  pass(SETTINGS.timeToLive + 120)
  await swarms.sweep()
  const keys = await redis.keys('*')
  expect(keys.filter((key) => !/:(k:\d+|du|dirty)$/.test(key))).toEqual([])
  const counters = keys.filter((key) => key.includes(':k:'))
  expect(counters).toHaveLength(2)
  for (const key of counters) await expect(redis.ttl(key)).resolves.toBeGreaterThan(21 * 86_400)
})

test('over many announces, all peers are returned equally often', async () => {
  const peers = 400
  for (let n = 1; n <= peers; n++) await swarms.announce(seeder(n, { account: undefined }))
  const chosen = new Map<number, number>()
  const rounds = 2000
  for (let i = 0; i < rounds; i += 50) {
    const asked = Array.from({ length: 50 }, () => swarms.announce(peer(9999, { account: undefined, kind: 'started' })))
    for (const answer of await Promise.all(asked))
      for (const n of peersOf(answer)) chosen.set(n, (chosen.get(n) ?? 0) + 1)
  }
  const expected = (rounds * 50) / peers
  const frequencies = Array.from({ length: peers }, (_, i) => chosen.get(i + 1) ?? 0)
  // Windows of 50 give neighbours similar counts, so the spread is that of `rounds` choices of one in eight.
  const spread = Math.sqrt(rounds * (1 / 8) * (7 / 8))
  expect(Math.min(...frequencies)).toBeGreaterThan(expected - 6 * spread)
  expect(Math.max(...frequencies)).toBeLessThan(expected + 6 * spread)
  const variance = frequencies.reduce((sum, n) => sum + (n - expected) ** 2, 0) / peers
  expect(Math.sqrt(variance)).toBeLessThan(2 * spread)
})

test('a leecher receives the only seeder among a thousand leechers', async () => {
  for (let n = 2; n <= 300; n++) await swarms.announce(peer(n, { account: undefined }))
  await swarms.announce(seeder(1, { account: undefined }))
  const answer = await swarms.announce(peer(1000, { account: undefined, want: 20 }))
  const seen = peersOf(answer, 100)
  expect(seen).toContain(1)
  expect(seen.length).toBeGreaterThanOrEqual(20)
})
