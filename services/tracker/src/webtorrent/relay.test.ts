import { expect, test } from '@jest/globals'
import { type InfoHash, infoHashFromBytes } from '@vault-and-tracker/bencode-tracker'
import fc from 'fast-check'
import type { SocketAnnounces } from './announces.ts'
import { type SocketConnection, SocketPeer } from './connections.ts'
import { SocketCounts } from './counts.ts'
import type { Offer } from './messages.ts'
import { PeerRemoval } from './peer-removal.ts'
import { OfferRelay, type RelayMessage } from './relay.ts'
import { type ProcessCount, Signalling } from './signalling.ts'

const PROCESS = '01'.repeat(8)
const OTHER = '02'.repeat(8)
const SWARM = 'swarm'
const INFO_HASH = infoHashFromBytes(Buffer.alloc(20)) as InfoHash

/** The relay of one process, with the messages that it sends to another one and the ids that its sockets receive. */
function create(process: string) {
  const sent: RelayMessage[] = []
  const delivered: { to: string; offer: string }[] = []
  const signalling = new Signalling<SocketPeer>({ now: () => 1_000_000 }, Math.random)
  const relays = {
    send: (_to: string, message: RelayMessage) => void sent.push(message),
    close: () => Promise.resolve(),
  }
  const removal = new PeerRemoval({} as SocketAnnounces, signalling, new Map())
  const offerRelay = new OfferRelay(process, signalling, relays, removal, new SocketCounts())
  const join = (name: string, seeds: boolean, elsewhere: readonly ProcessCount[] = []) => {
    const sendText = (text: string): boolean => {
      delivered.push({ to: name, offer: (JSON.parse(text) as { offer_id: string }).offer_id })
      return true
    }
    const peer = new SocketPeer({ sendText } as unknown as SocketConnection, 'x', name, INFO_HASH)
    peer.elsewhere = elsewhere
    signalling.join(peer, { swarm: SWARM, owner: name, peerId: name }, seeds)
    return peer
  }
  return { offerRelay, sent, delivered, join }
}

const offers = (count: number): Offer[] =>
  Array.from({ length: count }, (_, i) => ({
    offerId: `offer-${String(i)}`,
    sdp: '',
  }))

const counted = (seeders: number, others: number) => [{ process: OTHER, seeders, others }]

test('each peer of another process receives at most one offer of an announce', () => {
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
      const passed = here.offerRelay.relayOffers(peer, seeds, offers(count))
      relay()
      for (let i = before.seeders; i < seeders; i++) there.join(`seeder-${String(i)}`, true)
      for (let i = before.others; i < others; i++) there.join(`other-${String(i)}`, false)
      peer.elsewhere = counted(seeders, others)
      if (passed !== undefined) here.offerRelay.relayRemaining(peer, passed)
      relay()
      const { delivered } = there
      expect(delivered).toHaveLength(Math.min(count, others + (seeds ? 0 : seeders)))
      expect(new Set(delivered.map(({ to }) => to)).size).toBe(delivered.length)
      expect(new Set(delivered.map(({ offer }) => offer)).size).toBe(delivered.length)
    }),
  )
})
