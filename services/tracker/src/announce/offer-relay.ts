import type { PeerAnnounce } from '../swarm/swarm.ts'
import { clientName } from './announcing-clients.ts'
import { parseRelay, type RelayMessage, type Relays } from './process-relays.ts'
import type { Delivery, ElsewhereCount, Offer, Signalling, SignalPeer } from './signalling.ts'
import type { SocketCounters } from './socket-counters.ts'
import type { AnswerMessage } from './socket-messages.ts'
import { flat, quote, relayStart, textFromHex } from './socket-replies.ts'
import type { Session, SocketPeer } from './socket-session.ts'

/** Relays offers and answers to connections of this process and to other processes. */
export type OfferRelay = {
  /** Relays the offers of a peer, by the counts of other processes that its last reply told. */
  relayOffers(socketPeer: SocketPeer, peer: SignalPeer<SocketPeer>, offers: readonly Offer[]): RelayedOffers
  /** Relays the offers that nobody was left for, when the counts of other processes are new. */
  relayRemaining(socketPeer: SocketPeer, peer: SignalPeer<SocketPeer>, relayed: RelayedOffers): void
  /** Relays an answer, where its offer was sent to this peer. */
  relayAnswer(socketPeer: SocketPeer | undefined, message: AnswerMessage): void
  /** Takes a message of another process. */
  receive(text: string): void
  /** Asks another process whether the connection of a client is still alive there. */
  probe(holder: string, peer: PeerAnnounce): Promise<boolean>
}

/** What became of the offers of one announce. */
export type RelayedOffers = {
  /** Those that went to nobody. */
  readonly remaining: readonly Offer[]
  /** Those that other processes got. */
  readonly byProcess: ReadonlyMap<string, readonly Offer[]>
}

/** A process that does not answer within this time is gone; its client has three seconds to answer a ping. */
const PROBE_TIMEOUT_MS = 4_000

const NOTHING_RELAYED: RelayedOffers = { remaining: [], byProcess: new Map() }

/** How many peers other processes have in the swarm that got no offer of this announce. */
function countsOf({ otherProcesses }: SocketPeer, { byProcess }: RelayedOffers): ElsewhereCount[] {
  return otherProcesses.map((count) => {
    const process = count.process.toString('hex')
    const taken = byProcess.get(process)?.length ?? 0
    const others = Math.max(0, count.others - taken)
    const seeders = Math.max(0, count.seeders - Math.max(0, taken - count.others))
    return { process, seeders, others }
  })
}

/** Creates the relay of one process; `end` closes a connection that does not answer a ping. */
export function createOfferRelay(options: {
  process: string
  signalling: Signalling<SocketPeer>
  relays: Relays
  counters: SocketCounters
  end: (session: Session) => void
}): OfferRelay {
  const { process, signalling, relays, counters, end } = options
  const probes = new Map<number, (alive: boolean) => void>()
  let lastProbe = 0

  const sendTo = (socketPeer: SocketPeer, kind: 'offer' | 'answer', text: string): void => {
    if (socketPeer.session.connection.sendText(text)) counters.countRelayed(kind, 'socket')
    else counters.countDropped('slow_reader')
  }

  /** What a message begins with; of a hybrid torrent, the receiver may have announced the other info hash. */
  const startOf = (from: SocketPeer, infoHashJson: string): string => {
    if (infoHashJson !== from.infoHashJson) return relayStart(infoHashJson, from.peerIdJson)
    return (from.relayStart ??= flat(relayStart(infoHashJson, from.peerIdJson)))
  }

  /** @param from the sender, or, of another process, its peer id as JSON */
  const deliver = (deliveries: readonly Delivery<SocketPeer>[], from: SocketPeer | string): void => {
    for (const { to, offer } of deliveries) {
      const { infoHashJson } = to.socket
      const start = typeof from === 'string' ? relayStart(infoHashJson, from) : startOf(from, infoHashJson)
      sendTo(to.socket, 'offer', start + offer.members)
    }
  }

  const sendToProcesses = (
    peer: SignalPeer<SocketPeer>,
    shares: ReadonlyMap<string, readonly Offer[]>,
    isRest: boolean,
  ): void => {
    for (const [to, offers] of shares) {
      const { swarm, serial, owner, peerId, seeds } = peer
      relays.send(to, { kind: 'offers', swarm, from: { process, serial, owner, peerId, seeds }, offers, isRest })
      counters.countRelayed('offer', 'process', offers.length)
    }
  }

  const deliverAnswer = (serial: number, from: SocketPeer | string, members: string): void => {
    const socketPeer = signalling.bySerial(serial)?.socket
    if (socketPeer === undefined) {
      counters.countDropped('peer_gone')
      return
    }
    const { infoHashJson } = socketPeer
    const start = typeof from === 'string' ? relayStart(infoHashJson, from) : startOf(from, infoHashJson)
    sendTo(socketPeer, 'answer', start + members)
  }

  const onProbe = async (message: Extract<RelayMessage, { kind: 'probe' }>): Promise<void> => {
    const found = signalling.find(message.swarm, message.owner, message.peerId)
    const alive = found !== undefined && (await found.socket.session.connection.isAlive())
    if (found !== undefined && !alive) end(found.socket.session)
    relays.send(message.process, { kind: 'alive', id: message.id, alive })
  }

  return {
    relayOffers: (socketPeer, peer, offers) => {
      if (offers.length === 0) return NOTHING_RELAYED
      const { here, elsewhere, left } = signalling.distribute(peer, offers, countsOf(socketPeer, NOTHING_RELAYED))
      deliver(here, socketPeer)
      sendToProcesses(peer, elsewhere, false)
      return { remaining: left, byProcess: elsewhere }
    },

    relayRemaining: (socketPeer, peer, relayed) => {
      const { elsewhere } = signalling.distributeElsewhere(peer, relayed.remaining, countsOf(socketPeer, relayed))
      sendToProcesses(peer, elsewhere, relayed.byProcess.size > 0)
    },

    relayAnswer: (socketPeer, { peerIdText, toPeerId, offerId, members }) => {
      const peer = socketPeer?.peerIdText === peerIdText ? socketPeer.signalPeer : undefined
      const origin = peer && signalling.answered(peer, toPeerId, offerId)
      if (socketPeer === undefined || origin === undefined) {
        counters.countDropped('no_offer')
      } else if (origin.process === process) {
        deliverAnswer(origin.serial, socketPeer, members)
      } else {
        const answer = { offerId, members }
        relays.send(origin.process, { kind: 'answer', serial: origin.serial, peerId: peerIdText, answer })
        counters.countRelayed('answer', 'process')
      }
    },

    receive: (text) => {
      const message = parseRelay(text)
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
        const { swarm, owner, peerId } = clientName(peer, textFromHex(peer.peerId))
        relays.send(holder, { kind: 'probe', id, process, swarm, owner, peerId })
      }),
  }
}
