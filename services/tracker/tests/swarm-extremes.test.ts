import { expect, test } from '@jest/globals'
import type { PeerAnnounce } from '../src/swarm/swarm.ts'
import { peer, SETTINGS, seeder, swarmName } from './support/swarm-peers.ts'
import { openSwarms } from './support/swarm-world.ts'

const DAY = 86_400

const { swarms, pass, gathered } = await openSwarms()

const regular = (change: Partial<PeerAnnounce> = {}): PeerAnnounce => seeder(1, { kind: 'regular', ...change })

test('applying rates to more than 2^53 bytes loses none', async () => {
  const account = { user: Buffer.alloc(16, 1), torrent: Buffer.alloc(16, 1), uploadPercent: 1000, downloadPercent: 100 }
  await swarms.announce(seeder(1, { account }))
  pass(4 * DAY)
  await swarms.sweep()
  const moved = 400_000_000_000_004
  await swarms.announce(regular({ account, uploaded: moved, downloaded: 123_456_789_012_345 }))
  await expect(gathered()).resolves.toMatchObject([
    { actualUp: moved, creditedUp: 4_000_000_000_000_040, creditedDown: 123_456_789_012_345 },
  ])
})

test('credits the transfer during three weeks without a tracker', async () => {
  await swarms.announce(seeder(1))
  pass(20 * DAY)
  await swarms.announce(seeder(2))
  await swarms.announce(regular({ uploaded: 5_000 }))
  const deltas = await gathered()
  expect(deltas.map(({ actualUp }) => actualUp).toSorted()).toEqual([0, 5_000])
  await expect(swarms.count([{ name: swarmName(0xa7), completed: 0 }])).resolves.toMatchObject([{ complete: 2 }])
})

test('peers that were stored with a clock in the future do not live until then', async () => {
  pass(30 * DAY)
  await swarms.announce(peer(1))
  pass(-30 * DAY)
  await expect(swarms.announce(peer(2))).resolves.toMatchObject({ incomplete: 1 })
  pass(SETTINGS.timeToLive + 120)
  await expect(swarms.announce(peer(3))).resolves.toMatchObject({ incomplete: 1 })
})

test('a clock that is an hour ahead removes no peer', async () => {
  await swarms.announce(peer(1))
  pass(3_600)
  await swarms.announce(peer(2))
  pass(-3_600)
  await expect(swarms.announce(peer(3))).resolves.toMatchObject({ incomplete: 3 })
})
