import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { Offer } from './messages.ts'
import { Signalling, type SignalPeer } from './signalling.ts'

const PROCESS = 'aaaaaaaaaaaaaaaa'
const OTHER = 'bbbbbbbbbbbbbbbb'
const SWARM = 'swarm'

let now = 0
function create(random: () => number = Math.random): Signalling<SignalPeer> {
  now = 1_000_000
  return new Signalling({ now: () => now }, random)
}

function newPeer(peerId: string): SignalPeer {
  return { peerId, serial: 0, swarm: '', owner: '', seeds: false, place: 0, waiting: undefined }
}

function joins(signalling: Signalling<SignalPeer>, name: string, { owner = name, seeds = false } = {}): SignalPeer {
  const peer = newPeer(`id-${name}`)
  signalling.join(peer, { swarm: SWARM, owner, peerId: peer.peerId }, seeds)
  return peer
}

/** The name of a peer of another process. */
function sender({ serial, owner, peerId, seeds }: SignalPeer, process = PROCESS) {
  return { process, serial, owner, peerId, seeds }
}

function offers(count: number, prefix = 'offer'): Offer[] {
  return Array.from({ length: count }, (_, i) => ({ offerId: `${prefix}-${String(i)}`, sdp: '' }))
}

test('sends each offer to a different peer, and none to the sender', () => {
  const signalling = create()
  const from = joins(signalling, 'a')
  for (const name of ['b', 'c', 'd']) joins(signalling, name)
  const { here } = signalling.distribute(sender(from), SWARM, offers(5), [])
  expect(here.map(({ to }) => to.peerId).sort()).toEqual(['id-b', 'id-c', 'id-d'])
  expect(new Set(here.map(({ offer }) => offer.offerId)).size).toBe(3)
})

test('sends an answer to the peer that made the offer, once', () => {
  const signalling = create()
  const [a, b] = [joins(signalling, 'a'), joins(signalling, 'b')]
  signalling.distribute(sender(a), SWARM, offers(1), [])
  expect(signalling.answered(b, 'id-a', 'offer-0')).toEqual({ process: PROCESS, serial: a.serial })
  expect(signalling.answered(b, 'id-a', 'offer-0')).toBeUndefined()
})

test('limits the unanswered offers per peer', () => {
  const signalling = create()
  const [a, b] = [joins(signalling, 'a'), joins(signalling, 'b')]
  for (let i = 0; i < 300; i++) signalling.distribute(sender(a), SWARM, offers(1, String(i)), [])
  expect(signalling.answered(b, 'id-a', '0-0')).toBeUndefined()
  expect(signalling.answered(b, 'id-a', '299-0')).toBeDefined()
})

test('a peer that becomes a seeder keeps its serial number and received offers', () => {
  const signalling = create()
  const [a, b] = [joins(signalling, 'a'), joins(signalling, 'b')]
  signalling.distribute(sender(a), SWARM, offers(1), [])
  const seeding = joins(signalling, 'b', { seeds: true })
  expect(seeding.serial).toBe(b.serial)
  expect(signalling.answered(seeding, 'id-a', 'offer-0')).toBeDefined()
})

test('distributes offers between processes in proportion to their peers', () => {
  const signalling = create()
  const from = joins(signalling, 'a')
  for (const name of ['b', 'c']) joins(signalling, name)
  const totals = { here: 0, elsewhere: 0 }
  for (let i = 0; i < 300; i++) {
    const { here, elsewhere } = signalling.distribute(sender(from), SWARM, offers(3, String(i)), [
      { process: OTHER, seeders: 1, others: 1 },
    ])
    const away = elsewhere.get(OTHER) ?? []
    const sent = [...here.map(({ offer }) => offer.offerId), ...away.map(({ offerId }) => offerId)]
    expect(new Set(sent).size).toBe(3)
    expect(sent).toHaveLength(3)
    totals.here += here.length
    totals.elsewhere += away.length
  }
  expect(totals.here).toBeGreaterThan(380)
  expect(totals.elsewhere).toBeGreaterThan(380)
})

test('remaining offers can be sent to other processes later, one per peer', () => {
  const signalling = create()
  const from = joins(signalling, 'a')
  joins(signalling, 'b')
  const first = signalling.distribute(sender(from), SWARM, offers(5), [])
  expect(first.here).toHaveLength(1)
  expect(first.left).toHaveLength(4)
  const later = signalling.distributeElsewhere(sender(from), first.left, [{ process: OTHER, seeders: 1, others: 2 }])
  const sent = [...first.here.map(({ offer }) => offer), ...(later.get(OTHER) ?? [])]
  expect(later.get(OTHER)).toHaveLength(3)
  expect(new Set(sent.map(({ offerId }) => offerId)).size).toBe(4)
})

test('a peer that has left receives no offers and is not found', () => {
  const signalling = create()
  const [a, b] = [joins(signalling, 'a'), joins(signalling, 'b')]
  signalling.leave(b)
  expect(signalling.distribute(sender(a), SWARM, offers(1), []).here).toEqual([])
  expect(signalling.bySerial(b.serial)).toBeUndefined()
  expect(signalling.find({ swarm: SWARM, owner: 'b', peerId: 'id-b' })).toBeUndefined()
  expect(signalling.peersOf(SWARM).map(({ peerId }) => peerId)).toEqual(['id-a'])
})

// Two processes, their swarms, and random actions of peers.
type Step =
  | { kind: 'join'; process: number; user: number; client: number; swarm: number; seeds: boolean }
  | { kind: 'leave'; process: number; user: number; client: number; swarm: number }
  | { kind: 'offer'; process: number; user: number; client: number; swarm: number; count: number }
  | { kind: 'answer'; process: number; user: number; client: number; swarm: number; to: number; offer: number }
  | { kind: 'wait'; ms: number }

const who = {
  process: fc.nat(1),
  user: fc.nat(2),
  client: fc.nat(3),
  swarm: fc.nat(1),
}
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('join' as const), ...who, seeds: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('leave' as const), ...who }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('offer' as const), ...who, count: fc.nat(6) }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('answer' as const), ...who, to: fc.nat(40), offer: fc.nat(60) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(90_000) }) },
)

test('offers and answers only reach the right peers, in any order of actions', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), fc.integer(), (steps, seed) => {
      let state = seed
      const random = (): number => {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
        return (state >>> 0) / 0x1_0000_0000
      }
      const names = [PROCESS, OTHER]
      const nodes = names.map(() => create(random))
      const node = (i: number): Signalling<SignalPeer> => nodes[i] ?? create()
      let offered = 0
      /** All delivered offers with their sender, receiver and time, and whether they were answered. */
      const delivered: { offer: string; from: string; fromId: string; to: string; at: number; answered: boolean }[] = []
      const label = (process: number, serial: number): string => `${String(process)}/${String(serial)}`

      for (const each of steps) {
        if (each.kind === 'wait') {
          now += each.ms
          continue
        }
        const swarm = `swarm-${String(each.swarm)}`
        const owner = `user-${String(each.user)}`
        const peerId = `peer-${String(each.user)}-${String(each.client)}-${String(each.process)}`
        const signalling = node(each.process)
        const peer = signalling.find({ swarm, owner, peerId })
        if (each.kind === 'join') {
          signalling.join(peer ?? newPeer(peerId), { swarm, owner, peerId }, each.seeds)
        } else if (peer === undefined) {
          continue
        } else if (each.kind === 'leave') {
          signalling.leave(peer)
        } else if (each.kind === 'offer') {
          const other = 1 - each.process
          const there = node(other).peersOf(swarm)
          const counts = {
            process: names[other] ?? '',
            seeders: there.filter(({ seeds }) => seeds).length,
            others: there.filter(({ seeds }) => !seeds).length,
          }
          const made = Array.from({ length: each.count }, () => ({
            offerId: `offer-${String(offered++)}`,
            sdp: '',
          }))
          const from = sender(peer, names[each.process])
          const { here, elsewhere } = signalling.distribute(from, swarm, made, [counts])
          const away = elsewhere.get(names[other] ?? '') ?? []
          const all = [
            ...here.map((one) => ({ ...one, process: each.process })),
            ...node(other)
              .receive(from, swarm, away)
              .map((one) => ({ ...one, process: other })),
          ]
          expect(new Set(all.map(({ offer }) => offer.offerId)).size).toBe(all.length)
          expect(new Set(all.map(({ to, process }) => label(process, to.serial))).size).toBe(all.length)
          for (const { to, offer, process } of all) {
            expect(to.swarm).toBe(swarm)
            expect(to.owner).not.toBe(owner)
            if (peer.seeds) expect(to.seeds).toBe(false)
            delivered.push({
              offer: offer.offerId,
              from: label(each.process, peer.serial),
              fromId: peerId,
              to: label(process, to.serial),
              at: now,
              answered: false,
            })
          }
        } else {
          // Usually an existing offer of any peer, sometimes an unknown one.
          const one = delivered[each.offer]
          const toId = each.to < 30 ? (one?.fromId ?? 'nobody') : `peer-${String(each.to % 3)}-0-0`
          const origin = signalling.answered(peer, toId, one?.offer ?? 'none')
          const allowed = delivered.find(
            ({ offer, fromId, to, at, answered }) =>
              offer === one?.offer &&
              fromId === toId &&
              to === label(each.process, peer.serial) &&
              now - at < 120_000 &&
              !answered,
          )
          if (origin === undefined) {
            expect(allowed).toBeUndefined()
          } else {
            expect(allowed?.from).toBe(label(names.indexOf(origin.process), origin.serial))
            if (allowed) allowed.answered = true
          }
        }
      }
    }),
    { numRuns: 500 },
  )
})
