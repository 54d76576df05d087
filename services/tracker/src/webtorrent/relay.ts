import { POLICY_VIOLATION, SocketPeer } from './connections.ts'
import type { SocketCounts } from './counts.ts'
import { type AnswerMessage, isRecord, type Offer, relayMessage, relayStart } from './messages.ts'
import type { PeerRemoval } from './peer-removal.ts'
import type { Client, Delivery, OfferSender, Signalling } from './signalling.ts'

/** A message between processes of the tracker, which have names of 16 hex digits. */
export type RelayMessage =
  | {
      readonly kind: 'offers'
      readonly swarm: string
      readonly from: OfferSender
      readonly offers: readonly Offer[]
      /** Whether other offers of the same announce were sent before. */
      readonly isRest: boolean
    }
  /** An answer for the peer with this serial number in the receiving process. */
  | { readonly kind: 'answer'; readonly serial: number; readonly peerId: string; readonly answer: Offer }
  /** Asks whether the socket of a client is alive. */
  | (Client & { readonly kind: 'probe'; readonly id: number; readonly process: string })
  | { readonly kind: 'alive'; readonly id: number; readonly alive: boolean }

/** Sends messages to other processes. Never throws: lost messages are counted. */
export type Relays = { send(process: string, message: RelayMessage): void; close(): Promise<void> }

/** The result of relaying the offers of one announce. */
export type RelayedOffers = {
  /** Offers that were not sent to any peer. */
  readonly left: readonly Offer[]
  /** Offers that were sent to other processes. */
  readonly elsewhere: ReadonlyMap<string, readonly Offer[]>
}

/** A peer of this process or of another one. */
type Sender = { readonly peerId: string }

/** A process that does not answer within this time counts as stopped. Its client has three seconds to answer a ping. */
const PROBE_TIMEOUT_MS = 4_000

/** Relays offers and answers between connections of this process and to other processes. */
export class OfferRelay {
  private readonly process: string
  private readonly signalling: Signalling<SocketPeer>
  private readonly relays: Relays
  private readonly removal: PeerRemoval
  private readonly counts: SocketCounts
  private readonly probes = new Map<number, (isAlive: boolean) => void>()
  private lastProbe = 0

  constructor(
    process: string,
    signalling: Signalling<SocketPeer>,
    relays: Relays,
    removal: PeerRemoval,
    counts: SocketCounts,
  ) {
    this.process = process
    this.signalling = signalling
    this.relays = relays
    this.removal = removal
    this.counts = counts
  }

  /** Relays the offers of a peer, according to the counts of other processes in its last reply. */
  relayOffers(peer: SocketPeer, seeds: boolean, offers: readonly Offer[]): RelayedOffers | undefined {
    if (offers.length === 0) return undefined
    const from = this.senderOf(peer, seeds)
    const { here, elsewhere, left } = this.signalling.distribute(from, peer.swarm, offers, peer.elsewhere)
    this.deliver(here, peer)
    this.sendOffers(peer.swarm, from, elsewhere, false)
    return { left, elsewhere }
  }

  /** Relays the remaining offers to other processes if their counts have changed. */
  relayRemaining(peer: SocketPeer, { left, elsewhere }: RelayedOffers): void {
    const from = this.senderOf(peer, peer.seeds)
    // Peers that have received an offer of this announce receive no second one.
    const counts = peer.elsewhere.map(({ process, seeders, others }) => {
      const taken = elsewhere.get(process)?.length ?? 0
      const seedersTaken = Math.max(0, taken - others)
      return { process, seeders: Math.max(0, seeders - seedersTaken), others: Math.max(0, others - taken) }
    })
    const shares = this.signalling.distributeElsewhere(from, left, counts)
    this.sendOffers(peer.swarm, from, shares, elsewhere.size > 0)
  }

  /** Relays an answer if its offer was sent to this peer. */
  relayAnswer(peer: SocketPeer | undefined, { peerId, toPeerId, answer }: AnswerMessage): void {
    const isKnown = peer?.peerId === peerId && peer.isJoined
    const origin = isKnown ? this.signalling.answered(peer, toPeerId, answer.offerId) : undefined
    if (peer === undefined || origin === undefined) {
      this.counts.dropped.no_offer += 1
    } else if (origin.process === this.process) {
      this.deliverAnswer(origin.serial, peer, answer)
    } else {
      this.relays.send(origin.process, { kind: 'answer', serial: origin.serial, peerId, answer })
      this.counts.relayed.answer.process += 1
    }
  }

  /** Handles a message from another process. */
  receive(text: string): void {
    const message = readRelay(text)
    switch (message?.kind) {
      case 'offers':
        this.deliver(this.signalling.receive(message.from, message.swarm, message.offers, message.isRest), message.from)
        break
      case 'answer':
        this.deliverAnswer(message.serial, message, message.answer)
        break
      case 'probe':
        void this.answerProbe(message.process, message.id, message)
        break
      case 'alive':
        this.probes.get(message.id)?.(message.alive)
        break
      case undefined:
        break
    }
  }

  /** Asks another process whether its connection of a client is alive. */
  probe(process: string, { swarm, owner, peerId }: Client): Promise<boolean> {
    return new Promise((resolve) => {
      const id = ++this.lastProbe
      const settle = (isAlive: boolean): void => {
        clearTimeout(timer)
        this.probes.delete(id)
        resolve(isAlive)
      }
      const timer = setTimeout(() => settle(false), PROBE_TIMEOUT_MS)
      this.probes.set(id, settle)
      this.relays.send(process, { kind: 'probe', id, process: this.process, swarm, owner, peerId })
    })
  }

  private senderOf({ serial, owner, peerId }: SocketPeer, seeds: boolean): OfferSender {
    return { process: this.process, serial, owner, peerId, seeds }
  }

  private async answerProbe(process: string, id: number, client: Client): Promise<void> {
    const found = this.signalling.find(client)
    const alive = found !== undefined && (await found.connection.isAlive())
    if (found !== undefined && !alive) void this.removal.end(found.connection, POLICY_VIOLATION, 'Ping timeout')
    this.relays.send(process, { kind: 'alive', id, alive })
  }

  private deliver(deliveries: readonly Delivery<SocketPeer>[], from: Sender): void {
    for (const { to, offer } of deliveries) this.sendTo(to, 'offer', from, offer)
  }

  private deliverAnswer(serial: number, from: Sender, answer: Offer): void {
    const peer = this.signalling.bySerial(serial)
    if (peer === undefined) this.counts.dropped.peer_gone += 1
    else this.sendTo(peer, 'answer', from, answer)
  }

  private sendTo(peer: SocketPeer, kind: 'offer' | 'answer', from: Sender, offer: Offer): void {
    // A hybrid torrent has two info hashes, and the receiver may have announced the other one.
    const isSame = from instanceof SocketPeer && from.infoHash === peer.infoHash
    const start = isSame ? from.relayStart : relayStart(peer.infoHash, from.peerId)
    if (peer.connection.sendText(relayMessage(start, kind, offer))) this.counts.relayed[kind].socket += 1
    else this.counts.dropped.slow_reader += 1
  }

  private sendOffers(
    swarm: string,
    from: OfferSender,
    shares: ReadonlyMap<string, readonly Offer[]>,
    isRest: boolean,
  ): void {
    for (const [process, offers] of shares) {
      this.relays.send(process, { kind: 'offers', swarm, from, offers, isRest })
      this.counts.relayed.offer.process += offers.length
    }
  }
}

type Fields = Readonly<Record<string, unknown>>

/** Parses a message from another process. Returns undefined for a message of an incompatible release. */
function readRelay(text: string): RelayMessage | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isRecord(value)) return undefined
  const { kind, swarm, from, offers, isRest, serial, peerId, answer, id, process, alive } = value
  if (
    kind === 'offers' &&
    typeof swarm === 'string' &&
    isSender(from) &&
    Array.isArray(offers) &&
    offers.every(isOffer)
  )
    return { kind, swarm, from, offers, isRest: isRest === true }
  if (kind === 'answer' && typeof serial === 'number' && typeof peerId === 'string' && isOffer(answer))
    return { kind, serial, peerId, answer }
  if (kind === 'probe' && typeof id === 'number' && typeof process === 'string' && isClient(value))
    return { kind, id, process, swarm: value.swarm, owner: value.owner, peerId: value.peerId }
  if (kind === 'alive' && typeof id === 'number' && typeof alive === 'boolean') return { kind, id, alive }
  return undefined
}

function areStrings(fields: Fields, ...names: readonly string[]): boolean {
  return names.every((name) => typeof fields[name] === 'string')
}

function isOffer(value: unknown): value is Offer {
  return isRecord(value) && areStrings(value, 'offerId', 'sdp')
}

function isClient(value: unknown): value is Client {
  return isRecord(value) && areStrings(value, 'swarm', 'owner', 'peerId')
}

function isSender(value: unknown): value is OfferSender {
  if (!isRecord(value) || !areStrings(value, 'process', 'owner', 'peerId')) return false
  return typeof value['serial'] === 'number' && typeof value['seeds'] === 'boolean'
}
