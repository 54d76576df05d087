import type { InfoHash } from '@vault-and-tracker/bencode-tracker'
import type { PeerAnnounce } from '../swarm/swarm.ts'
import { parseRelay, type RelayMessage, type Relays } from './process-relays.ts'
import type { ScrapeOutcome } from './scrape.ts'
import type { Delivery, ElsewhereCount, Offer, Signalling, SignalPeer } from './signalling.ts'
import type { SocketCounters } from './socket-counters.ts'
import { type ClientMessage, NO_INFO_HASH } from './socket-messages.ts'
import { flat, quote, relayStart, scrapeMessage, textOf } from './socket-replies.ts'
import type { Seat, Session } from './socket-session.ts'

/** Passes offers and answers on, to sockets of this process and to other processes. */
export type Introductions = {
  /** Shares the offers of a peer out, by what is known of other processes. */
  pass(seat: Seat, peer: SignalPeer<Seat>, offers: readonly Offer[]): Passed
  /** Shares out what was left, when more is known of other processes. */
  passRest(seat: Seat, peer: SignalPeer<Seat>, passed: Passed): void
  /** Passes an answer on, where its offer was made to this peer. */
  answer(seat: Seat | undefined, message: Extract<ClientMessage, { kind: 'answer' }>): void
  /** Takes a line of another process. */
  receive(line: string): void
  /** Whether another process still has the socket of a client. */
  probe(holder: string, peer: PeerAnnounce): Promise<boolean>
  scraped(outcome: Extract<ScrapeOutcome, { failure: undefined }>): string
  textOfFirst(infoHashes: readonly InfoHash[]): string
}

/** What became of offers: those that went to nobody, and how many each other process got. */
export type Passed = { readonly left: readonly Offer[]; readonly given: ReadonlyMap<string, readonly Offer[]> }

/** A process that does not answer for so long is gone: it has three seconds to ask its client. */
const PROBE_TIMEOUT_MS = 4_000

/** One character for each byte. */
export function latin1(bytes: Buffer): string {
  return bytes.toString('latin1')
}

const NOTHING_PASSED: Passed = { left: [], given: new Map() }

/** The peers of a swarm that other processes have, and that were not given an offer. */
function countsOf({ elsewhere }: Seat, { given }: Passed): ElsewhereCount[] {
  return elsewhere.map((count) => {
    const process = count.process.toString('hex')
    const taken = given.get(process)?.length ?? 0
    const others = Math.max(0, count.others - taken)
    const seeders = Math.max(0, count.seeders - Math.max(0, taken - count.others))
    return { process, seeders, others }
  })
}

/** Creates it; `end` closes a connection that does not answer. */
export function createIntroductions(options: {
  process: string
  signalling: Signalling<Seat>
  relays: Relays
  counters: SocketCounters
  end: (session: Session) => void
}): Introductions {
  const { process, signalling, relays, counters, end } = options
  const probes = new Map<number, (alive: boolean) => void>()
  let lastProbe = 0

  const sendTo = (seat: Seat, kind: 'offer' | 'answer', text: string): void => {
    if (seat.session.connection.sendText(text)) counters.countRelayed(kind, 'socket')
    else counters.countDropped('slow_reader')
  }

  /** Of a hybrid torrent, the receiver may have announced the other info hash. */
  const startOf = (from: Seat, infoHashJson: string): string => {
    if (infoHashJson !== from.infoHashJson) return relayStart(infoHashJson, from.peerIdJson)
    return (from.relayStart ??= flat(relayStart(infoHashJson, from.peerIdJson)))
  }

  const deliver = (deliveries: readonly Delivery<Seat>[], from: Seat | string): void => {
    for (const { to, offer } of deliveries) {
      const { infoHashJson } = to.socket
      const start = typeof from === 'string' ? relayStart(infoHashJson, from) : startOf(from, infoHashJson)
      sendTo(to.socket, 'offer', start + offer.members)
    }
  }

  const deliverElsewhere = (
    peer: SignalPeer<Seat>,
    shares: ReadonlyMap<string, readonly Offer[]>,
    isRest: boolean,
  ): void => {
    for (const [to, offers] of shares) {
      const { swarm, serial, owner, peerId, seeds } = peer
      relays.send(to, { kind: 'offers', swarm, from: { process, serial, owner, peerId, seeds }, offers, isRest })
      counters.countRelayed('offer', 'process', offers.length)
    }
  }

  const deliverAnswer = (serial: number, from: Seat | string, members: string): void => {
    const seat = signalling.bySerial(serial)?.socket
    if (seat === undefined) {
      counters.countDropped('peer_gone')
      return
    }
    const { infoHashJson } = seat
    const start = typeof from === 'string' ? relayStart(infoHashJson, from) : startOf(from, infoHashJson)
    sendTo(seat, 'answer', start + members)
  }

  const onProbe = async (message: Extract<RelayMessage, { kind: 'probe' }>): Promise<void> => {
    const found = signalling.find(message.swarm, message.owner, message.peerId)
    const alive = found !== undefined && (await found.socket.session.connection.isAlive())
    if (found !== undefined && !alive) end(found.socket.session)
    relays.send(message.process, { kind: 'alive', id: message.id, alive })
  }

  return {
    pass: (seat, peer, offers) => {
      if (offers.length === 0) return NOTHING_PASSED
      const { here, elsewhere, left } = signalling.distribute(peer, offers, countsOf(seat, NOTHING_PASSED))
      deliver(here, seat)
      deliverElsewhere(peer, elsewhere, false)
      return { left, given: elsewhere }
    },

    passRest: (seat, peer, passed) => {
      const { elsewhere } = signalling.distributeElsewhere(peer, passed.left, countsOf(seat, passed))
      deliverElsewhere(peer, elsewhere, passed.given.size > 0)
    },

    answer: (seat, { peerIdText, toPeerId, offerId, members }) => {
      const peer = seat?.peerIdText === peerIdText ? seat.peer : undefined
      const origin = peer && signalling.answered(peer, toPeerId, offerId)
      if (seat === undefined || origin === undefined) {
        counters.countDropped('no_offer')
      } else if (origin.process === process) {
        deliverAnswer(origin.serial, seat, members)
      } else {
        const answer = { offerId, members }
        relays.send(origin.process, { kind: 'answer', serial: origin.serial, peerId: peerIdText, answer })
        counters.countRelayed('answer', 'process')
      }
    },

    receive: (line) => {
      const message = parseRelay(line)
      switch (message?.kind) {
        case 'offers':
          deliver(
            signalling.receive(message.from, message.swarm, message.offers, message.isRest),
            quote(message.from.peerId),
          )
          break
        case 'answer':
          deliverAnswer(message.serial, quote(message.peerId), message.answer.members)
          break
        case 'probe':
          void onProbe(message)
          break
        case 'alive':
          probes.get(message.id)?.(message.alive)
          break
        case undefined:
          break
      }
    },

    probe: (holder, peer) =>
      new Promise((resolve) => {
        const id = ++lastProbe
        const settle = (alive: boolean): void => {
          clearTimeout(timer)
          probes.delete(id)
          resolve(alive)
        }
        const timer = setTimeout(() => settle(false), PROBE_TIMEOUT_MS)
        probes.set(id, settle)
        const peerId = latin1(Buffer.from(peer.peerId, 'hex'))
        const client = { swarm: latin1(peer.swarm), owner: latin1(peer.owner), peerId }
        relays.send(holder, { kind: 'probe', id, process, ...client })
      }),

    scraped: ({ torrents, minRequestInterval }) => scrapeMessage(torrents, minRequestInterval),
    textOfFirst: ([first]) => (first === undefined ? NO_INFO_HASH : quote(textOf(first))),
  }
}
