import { randomBytes } from 'node:crypto'
import {
  type AnnounceEvent,
  type AnnounceRequest,
  type TrackerAction,
  WARNINGS,
} from '@vault-and-tracker/bencode-tracker'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { Announce, warningOf } from '../announce/announce.ts'
import type { Refusal } from '../announce/refusal.ts'
import type { PeerAnnounce, ProcessId, SwarmAnswer } from '../swarm/swarm.ts'
import type { Intervals, SocketAnnounces } from './announces.ts'
import { type SocketConnection, SocketPeer } from './connections.ts'
import { type AnnounceMessage, announceReply, failureReply, type Offer } from './messages.ts'
import { type Claims, clientOf, type PeerRemoval } from './peer-removal.ts'
import type { OfferRelay, RelayedOffers } from './relay.ts'
import { type Client, keyOf, type ProcessCount, type Signalling } from './signalling.ts'

/** Failures after which the peer stays in the swarm, since its next announce may succeed. */
const TRANSIENT: ReadonlySet<string> = new Set(['tracker_unavailable', 'internal_error', 'announce_limit'])
/** Failures after which the client is still unknown. */
const AUTHENTICATION_FAILURES: ReadonlySet<string> = new Set([
  ...['missing_passkey', 'invalid_passkey', 'unknown_passkey', 'passkey_limit'],
  ...['account_banned', 'account_suspended'],
])

/** Answers a message with a refusal. */
export function sendRefusal(
  connection: SocketConnection,
  action: TrackerAction,
  infoHash: string,
  { failure, detail }: Refusal,
): void {
  if (!AUTHENTICATION_FAILURES.has(failure)) connection.served()
  connection.sendText(failureReply(action, infoHash, failure, detail))
}

/** The dependencies of announces. */
export type AnnounceQueueParts = {
  readonly announces: SocketAnnounces
  readonly signalling: Signalling<SocketPeer>
  readonly relay: OfferRelay
  readonly removal: PeerRemoval
  readonly claims: Claims
  readonly clock: Clock
  /** The limit per connection. */
  readonly maxTorrents: number
}

/** The announces over the sockets of one process. Those of one torrent on one connection run in order. */
export class AnnounceQueue {
  readonly parts: AnnounceQueueParts
  /** The last announce of each peer with announces under way. */
  private readonly last = new Map<SocketPeer, SocketAnnounce>()
  private onIdle: (() => void) | undefined = undefined

  constructor(parts: AnnounceQueueParts) {
    this.parts = parts
  }

  /** Runs an announce after earlier ones of the peer, replies, and relays its offers. */
  add(connection: SocketConnection, message: AnnounceMessage, bytes: number): void {
    const { announces, relay, clock, maxTorrents } = this.parts
    const { infoHash, peerId, request, offers } = message
    const known = connection.peers.get(infoHash)
    if (known !== undefined && known.peerId !== peerId) {
      sendRefusal(connection, 'announce', infoHash, announces.refuse('announce', 'several_peer_ids'))
      return
    }
    if (known === undefined && connection.peers.size >= maxTorrents) {
      sendRefusal(connection, 'announce', infoHash, announces.refuse('announce', 'too_many_torrents'))
      return
    }
    const peer = known ?? new SocketPeer(connection, infoHash, peerId, request.infoHash)
    const before = this.last.get(peer)
    if (before === undefined && peer.isJoined && peer.announce !== undefined) {
      if (announces.isTooSoon(request, peer.announce, clock.now() - peer.announcedAt)) {
        sendReply(peer, announces.repeat(request))
        relay.relayOffers(peer, peer.seeds, offers)
        return
      }
    }
    connection.peers.set(infoHash, peer)
    const announce = new SocketAnnounce(this, peer, message, bytes)
    connection.waitFor(bytes)
    this.last.set(peer, announce)
    if (before === undefined) announce.start()
    else before.next = announce
  }

  /** Starts the announce that follows an answered one. */
  answered({ socketPeer, next }: SocketAnnounce): void {
    if (next !== undefined) {
      // Otherwise, many announces that are answered immediately would overflow the call stack.
      queueMicrotask(() => next.start())
      return
    }
    this.last.delete(socketPeer)
    if (this.last.size === 0) this.onIdle?.()
  }

  /** The peers of a torrent with an announce under way. */
  peersOf(torrent: string): SocketPeer[] {
    return [...this.last.keys()].filter((peer) => peer.torrent === torrent)
  }

  /** Resolves when no announce is under way. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      if (this.last.size === 0) resolve()
      else this.onIdle = resolve
    })
  }
}

/** One announce over a socket: it passes the rules, claims its client, is applied to the swarm, and is answered. */
class SocketAnnounce extends Announce {
  readonly socketPeer: SocketPeer
  next: SocketAnnounce | undefined = undefined
  override socket: Announce['socket'] = undefined
  private readonly queue: AnnounceQueue
  private readonly offers: readonly Offer[]
  private readonly bytes: number
  /** Set once the rules accept the announce. */
  private client: Client | undefined = undefined
  private relayed: RelayedOffers | undefined = undefined

  constructor(queue: AnnounceQueue, socketPeer: SocketPeer, { request, offers }: AnnounceMessage, bytes: number) {
    super()
    const { connection } = socketPeer
    this.queue = queue
    this.socketPeer = socketPeer
    this.request = request
    this.passkey = connection.opening.passkey
    this.address = connection.opening.address
    this.overSocket = { owner: () => (connection.owner ??= randomBytes(8)) }
    this.offers = offers
    this.bytes = bytes
  }

  start(): void {
    const { socketPeer, request } = this
    const { connection, infoHash } = socketPeer
    // While this announce waited, the one before it may have removed the peer.
    if (!connection.isEnded) connection.peers.set(infoHash, socketPeer)
    else if (request.event !== 'stopped' && request.event !== 'completed') {
      // After the connection has closed, only events that clients send once are still applied.
      this.finish()
      return
    }
    const event = eventOf(socketPeer, request)
    if (event !== request.event) this.request = { ...request, event }
    this.queue.parts.announces.check(this)
  }

  accepted(): void {
    if (this.isPending) {
      this.queue.parts.announces.count(this, undefined, 'pending_moderation')
      this.reply(undefined, PENDING, WARNINGS.pending_moderation.message)
      return
    }
    this.client = this.socketPeer.isJoined ? this.socketPeer : clientOf(this.peer)
    this.claim(this.client)
  }

  /** Claims the client, unless another connection has it and answers a ping. */
  private claim(client: Client): void {
    const { claims, signalling, removal } = this.queue.parts
    const { connection } = claims.get(keyOf(client)) ?? signalling.find(client) ?? this.socketPeer
    if (connection === this.socketPeer.connection || connection.isEnded) {
      claims.set(keyOf(client), this.socketPeer)
      this.tell('announces')
      return
    }
    removal
      .endUnlessAlive(connection)
      .then((isEnded) => (isEnded ? this.claim(client) : this.refuseClient()))
      .catch((error: unknown) => this.failed(error))
  }

  private tell(purpose: 'announces' | 'takes-over'): void {
    const { relay, announces } = this.queue.parts
    const { state } = this.peer
    // The offers of a peer that is in the swarm need not wait for Redis.
    if (this.socketPeer.isJoined && state !== 'stopped' && !this.over)
      this.relayed ??= relay.relayOffers(this.socketPeer, state !== 'leecher', this.offers)
    this.socket = { process: announces.process, purpose }
    announces.tell(this)
  }

  answered(answer: SwarmAnswer): void {
    const { announces } = this.queue.parts
    const { holder } = answer
    if (holder !== undefined) {
      this.probe(holder.toString('hex'))
      return
    }
    if (answer.status === 'not_admitted') {
      this.refused(announces.refuseOverLimit(this))
      return
    }
    const warning = warningOf(this, answer)
    announces.count(this, answer, warning)
    this.reply(answer, announces.intervals(warning === 'over_announce_limit'), warning && WARNINGS[warning].message)
  }

  /** Asks the process with a socket of this client whether that is alive. The swarm has not changed. */
  private probe(process: string): void {
    const { client } = this
    if (client === undefined) return
    this.queue.parts.relay
      .probe(process, client)
      .then((isAlive) => (isAlive ? this.refuseClient() : this.tell('takes-over')))
      .catch((error: unknown) => this.failed(error))
  }

  /** @param answer undefined for a torrent that is awaiting moderation */
  private reply(answer: SwarmAnswer | undefined, intervals: Intervals, warning: string | undefined): void {
    const { socketPeer, request, relayed } = this
    const { relay } = this.queue.parts
    const isJoined = answer?.status === 'accepted' && this.peer.state !== 'stopped'
    socketPeer.wasIncomplete ||= request.left > 0 && isJoined
    if (request.event === 'completed') socketPeer.completionPending = false
    if (this.settle(answer, isJoined)) {
      sendReply(socketPeer, { ...intervals, warning })
      if (socketPeer.isJoined && relayed !== undefined) relay.relayRemaining(socketPeer, relayed)
      else if (socketPeer.isJoined && !this.over) relay.relayOffers(socketPeer, socketPeer.seeds, this.offers)
    }
    this.finish()
  }

  refused(refusal: Refusal): void {
    void this.giveUp(refusal)
  }

  failed(error: unknown): void {
    // Redis may have applied it nevertheless.
    void this.giveUp(this.queue.parts.announces.refuseError(error), this.client && this.peer)
  }

  private refuseClient(): void {
    this.refused(this.queue.parts.announces.refuse('announce', 'peer_id_in_use'))
  }

  /** Records the answer. Returns false if the connection or the torrent no longer exists, so that no reply is sent. */
  private settle(answer: SwarmAnswer | undefined, isJoined: boolean): boolean {
    const { socketPeer, client, peer } = this
    const { announces, signalling, claims, removal, clock } = this.queue.parts
    socketPeer.complete = answer?.complete ?? 0
    socketPeer.incomplete = answer?.incomplete ?? 0
    socketPeer.downloaded = answer?.completed ?? 0
    socketPeer.elsewhere = answer === undefined ? [] : countsElsewhere(answer, announces.process)
    socketPeer.announcedAt = clock.now()
    if (!isJoined || client === undefined) {
      signalling.leave(socketPeer)
      socketPeer.drop()
      return true
    }
    const isWanted = !socketPeer.connection.isEnded && socketPeer.isKept
    if (!isWanted && (claims.get(keyOf(client)) ?? socketPeer) !== socketPeer) return false
    socketPeer.announce = peer
    signalling.join(socketPeer, client, peer.state !== 'leecher')
    if (!isWanted) void removal.remove(socketPeer)
    return isWanted
  }

  private async giveUp(refusal: Refusal, uncertain?: PeerAnnounce): Promise<void> {
    const { socketPeer } = this
    const { event } = this.request
    const { removal } = this.queue.parts
    const isTransient = TRANSIENT.has(refusal.failure)
    // Clients send `stopped` and `completed` once.
    if (event === 'stopped' || !isTransient) await removal.remove(socketPeer)
    if (event === 'completed' && isTransient) socketPeer.completionPending = true
    if (!socketPeer.isJoined) socketPeer.drop()
    sendRefusal(socketPeer.connection, 'announce', socketPeer.infoHash, refusal)
    if (uncertain !== undefined && !socketPeer.isJoined) removal.retryLater(uncertain)
    this.finish()
  }

  private finish(): void {
    const { claims } = this.queue.parts
    const key = this.client && keyOf(this.client)
    if (key !== undefined && claims.get(key) === this.socketPeer) claims.delete(key)
    this.socketPeer.connection.answered(this.bytes)
    this.queue.answered(this)
  }
}

/** For a torrent that is awaiting moderation. */
const PENDING: Intervals = {
  interval: WARNINGS.pending_moderation.interval,
  minInterval: WARNINGS.pending_moderation.interval,
}

/** The number of peers of the swarm in each other process. */
function countsElsewhere({ sockets }: SwarmAnswer, process: ProcessId): readonly ProcessCount[] {
  return sockets
    .filter((each) => !each.process.equals(process))
    .map((each) => ({ ...each, process: each.process.toString('hex') }))
}

function sendReply(peer: SocketPeer, intervals: Parameters<typeof announceReply>[2]): void {
  peer.connection.served()
  peer.connection.sendText(announceReply(peer.infoHash, peer, intervals))
}

/**
 * The event for the swarm. Seeders send `completed` before `started`, and a completion that failed is repeated with a
 * later announce.
 */
function eventOf({ wasIncomplete, completionPending }: SocketPeer, { event, left }: AnnounceRequest): AnnounceEvent {
  if (event === 'completed') return wasIncomplete ? event : 'started'
  return event === 'none' && left === 0 && completionPending ? 'completed' : event
}
