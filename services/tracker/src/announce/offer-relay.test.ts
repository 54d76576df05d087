import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { SILENT_COUNTERS } from '../../tests/support/silent-counters.ts'
import { createOfferRelay } from './offer-relay.ts'
import type { RelayMessage } from './process-relays.ts'
import { createSignalling, type Offer } from './signalling.ts'
import type { Session, SocketPeer } from './socket-session.ts'

const PROCESS = '01'.repeat(8)
const OTHER = '02'.repeat(8)
const SWARM = 'swarm'
const ignore = (): void => undefined

/** The relay of one process; `sent` is what it sends to another, `delivered` the ids of what its sockets get. */
function create(process: string) {
  const sent: RelayMessage[] = []
  const delivered: { to: string; offer: string }[] = []
  const signalling = createSignalling<SocketPeer>({ process, clock: { now: () => 1_000_000 }, random: Math.random })
  const offerRelay = createOfferRelay({
    process,
    signalling,
    relays: { send: (_to, message) => sent.push(message), close: () => Promise.resolve() },
    counters: SILENT_COUNTERS,
    end: ignore,
  })
  const join = (name: string, seeds: boolean, otherProcesses: SocketPeer['otherProcesses'] = []) => {
    const sendText = (bytes: string): boolean => {
      delivered.push({ to: name, offer: (JSON.parse(bytes) as { offer_id: string }).offer_id })
      return true
    }
    const session = { connection: { sendText } } as unknown as Session
    const socket = { session, infoHashJson: '"x"', otherProcesses } as SocketPeer
    return signalling.join({ swarm: SWARM, owner: name, peerId: name, socket, seeds })
  }
  return { offerRelay, sent, delivered, join }
}

const offers = (count: number): Offer[] =>
  Array.from({ length: count }, (_, i) => ({
    offerId: `offer-${String(i)}`,
    members: `"offer_id":"offer-${String(i)}"}`,
  }))

const counted = (seeders: number, others: number) => [{ process: Buffer.from(OTHER, 'hex'), seeders, others }]

test('whatever another process had and has, each of its peers gets one offer of an announce at most', () => {
  const counts = fc.record({ seeders: fc.nat(5), others: fc.nat(5) })
  fc.assert(
    fc.property(counts, counts, fc.nat(20), fc.boolean(), (before, added, count, seeds) => {
      const [here, there] = [create(PROCESS), create(OTHER)]
      const peer = here.join('sender', seeds, counted(before.seeders, before.others))
      const [seeders, others] = [before.seeders + added.seeders, before.others + added.others]
      for (let i = 0; i < before.seeders; i++) there.join(`seeder-${String(i)}`, true)
      for (let i = 0; i < before.others; i++) there.join(`other-${String(i)}`, false)
      const relay = (): void => {
        for (const message of here.sent.splice(0)) there.offerRelay.receive(JSON.stringify(message))
      }
      const passed = here.offerRelay.relayOffers(peer.socket, peer, offers(count))
      relay()
      for (let i = before.seeders; i < seeders; i++) there.join(`seeder-${String(i)}`, true)
      for (let i = before.others; i < others; i++) there.join(`other-${String(i)}`, false)
      Object.assign(peer.socket, { otherProcesses: counted(seeders, others) })
      here.offerRelay.relayRemaining(peer.socket, peer, passed)
      relay()
      const { delivered } = there
      expect(delivered).toHaveLength(Math.min(count, others + (seeds ? 0 : seeders)))
      expect(new Set(delivered.map(({ to }) => to)).size).toBe(delivered.length)
      expect(new Set(delivered.map(({ offer }) => offer)).size).toBe(delivered.length)
    }),
  )
})
