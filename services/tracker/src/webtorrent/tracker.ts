import { setTimeout as sleep } from 'node:timers/promises'
import { type Passkey, parsePasskey } from '@vault-and-tracker/bencode-tracker'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { PasskeyUser } from '../announce/lookups.ts'
import type { Invalidation } from '../invalidation/invalidation.ts'
import type { SocketAnnounces } from './announces.ts'
import {
  Connections,
  POLICY_VIOLATION,
  type SocketConnection,
  type SocketOpening,
  type SocketPeer,
} from './connections.ts'
import type { SocketCounts } from './counts.ts'
import {
  failureReply,
  type MalformedMessage,
  NO_INFO_HASH,
  readMessage,
  type ScrapeMessage,
  scrapeReply,
  textFromHex,
} from './messages.ts'
import { type Claims, PeerRemoval } from './peer-removal.ts'
import { OfferRelay, type Relays } from './relay.ts'
import type { Signalling } from './signalling.ts'
import { AnnounceQueue, sendRefusal } from './socket-announce.ts'

const GOING_AWAY = 1001
const PASSKEY_NOT_VALID = 'Passkey not valid'
const MAX_MALFORMED = 20
/** The time that `drain` waits for announces in progress. */
const DRAIN_WITHIN_MS = 5_000
/**
 * A sweep checks a twelfth of the groups, and at least this many connections. A full sweep would block the event loop.
 */
const SWEPT_GROUPS = 25
const MIN_SWEPT = 1_000

/** While Postgres is unavailable, nothing is removed. */
const ignore = (): void => undefined

type Identity = Pick<SocketOpening, 'member' | 'endsAt'>

/** Handles the messages of the WebSocket clients of one process. */
export class SocketTracker {
  readonly connections = new Connections()
  private readonly announces: SocketAnnounces
  private readonly signalling: Signalling<SocketPeer>
  private readonly removal: PeerRemoval
  private readonly relay: OfferRelay
  private readonly queue: AnnounceQueue
  private readonly counts: SocketCounts
  private readonly clock: Clock
  private readonly timeToLiveMs: number
  private isDraining = false
  private swept = 0

  constructor(options: {
    /** The name of this process, 16 hex digits. */
    process: string
    /** The limit of torrents per connection. */
    maxTorrents: number
    /** Time after its last announce at which the swarm expires a peer. */
    timeToLiveMs: number
    announces: SocketAnnounces
    signalling: Signalling<SocketPeer>
    relays: Relays
    counts: SocketCounts
    clock: Clock
  }) {
    const { process, announces, signalling, relays, counts, clock } = options
    const claims: Claims = new Map()
    const removal = new PeerRemoval(announces, signalling, claims)
    const relay = new OfferRelay(process, signalling, relays, removal, counts)
    this.announces = announces
    this.signalling = signalling
    this.removal = removal
    this.relay = relay
    this.queue = new AnnounceQueue({ ...options, removal, relay, claims })
    this.counts = counts
    this.clock = clock
    this.timeToLiveMs = options.timeToLiveMs
  }

  /**
   * Handles a message.
   *
   * @param frame the text, valid UTF-8; `undefined` for a binary message, which is malformed
   */
  receive(connection: SocketConnection, frame: Buffer | undefined): void {
    if (connection.isEnded || this.isDraining) return
    const message = readMessage(frame)
    this.counts.messages[message.kind] += 1
    const bytes = frame?.length ?? 0
    if (message.kind === 'malformed') this.refuseMalformed(connection, message)
    else if (connection.opening.failure !== undefined) {
      const action = message.kind === 'scrape' ? 'scrape' : 'announce'
      const infoHash = message.kind === 'announce' ? message.infoHash : NO_INFO_HASH
      sendRefusal(connection, action, infoHash, this.announces.refuse(action, connection.opening.failure))
    } else if (message.kind === 'announce') this.queue.add(connection, message, bytes)
    else if (message.kind === 'scrape') void this.scrape(connection, message, bytes)
    else this.relay.relayAnswer(connection.peers.get(message.infoHash), message)
  }

  /** Who opens a connection. Postgres may be unavailable, so that the passkey has to do. */
  identify(passkey: Passkey | undefined): Identity | Promise<Identity> {
    const identityOf = (user?: PasskeyUser): Identity => ({ member: user?.id ?? passkey, endsAt: user?.endsAt })
    const user = this.announces.userOf(passkey)
    return user instanceof Promise ? user.then(identityOf, () => identityOf()) : identityOf(user)
  }

  opened(connection: SocketConnection): void {
    this.connections.add(connection)
    this.counts.open += 1
  }

  /** Removes the peers of a connection that has closed. */
  closed(connection: SocketConnection): void {
    this.connections.remove(connection)
    this.counts.open -= 1
    if (!connection.isEnded) void this.removal.removeAll(connection)
  }

  /** Handles a message from another process. */
  receiveRelay(text: string): void {
    this.relay.receive(text)
  }

  /**
   * After a change, closes the connections of a user and removes the peers of a torrent that may no longer announce.
   */
  forget(change: Invalidation): void {
    const passkey = change.kind === 'user' ? parsePasskey(change.passkey) : undefined
    if (passkey !== undefined)
      for (const connection of this.connections.of(passkey)) this.recheckUser(connection).catch(ignore)
    if (change.kind !== 'torrent') return
    const joined = this.signalling.peersOf(textFromHex(change.infoHash))
    for (const peer of new Set([...joined, ...this.queue.peersOf(change.infoHash)]))
      this.recheckTorrent(peer).catch(ignore)
  }

  /** Closes the connections whose passkey has expired. */
  endExpired(): void {
    for (const connection of this.connections.endedAt(this.clock.now()))
      void this.removal.end(connection, POLICY_VIOLATION, PASSKEY_NOT_VALID)
  }

  /** Checks all connections and peers again, because changes may have been missed. */
  revalidateAll(): void {
    for (const connection of this.connections.all()) {
      if (connection.opening.failure === undefined) this.recheckUser(connection).catch(ignore)
      for (const peer of connection.peers.values()) this.recheckTorrent(peer).catch(ignore)
    }
  }

  /**
   * Removes peers that have expired in the swarm, for a part of the connections, and repeats failed removals.
   */
  async sweep(): Promise<void> {
    const due = this.clock.now() - this.timeToLiveMs
    const expired: SocketPeer[] = []
    const groups = this.connections.groups
    for (let [done, count] = [0, 0]; done < groups.length && (done < SWEPT_GROUPS || count < MIN_SWEPT); done++) {
      const group = groups[this.swept++ % groups.length] ?? new Set()
      count += group.size
      for (const { peers } of group)
        for (const peer of peers.values()) if (peer.isJoined && peer.announcedAt < due) expired.push(peer)
    }
    for (const peer of expired) peer.drop()
    await Promise.all(expired.map((peer) => this.removal.remove(peer)))
    await this.removal.retry()
  }

  /** Answers received messages, then closes all connections. Returns whether Redis has removed all of their peers. */
  async drain(): Promise<boolean> {
    this.isDraining = true
    await Promise.race([this.queue.idle(), sleep(DRAIN_WITHIN_MS, undefined, { ref: false })])
    await Promise.all(this.connections.all().map((each) => this.removal.end(each, GOING_AWAY, 'The tracker restarts')))
    return this.removal.finish()
  }

  private refuseMalformed(connection: SocketConnection, { action, infoHash, failure }: MalformedMessage): void {
    connection.malformed += 1
    const refusal = this.announces.refuse(action, failure)
    connection.sendText(failureReply(action, infoHash, refusal.failure, refusal.detail))
    if (connection.malformed >= MAX_MALFORMED)
      void this.removal.end(connection, POLICY_VIOLATION, 'Too many malformed messages')
  }

  private async scrape(connection: SocketConnection, { infoHashes }: ScrapeMessage, bytes: number): Promise<void> {
    connection.waitFor(bytes)
    const outcome = await this.announces.scrape(infoHashes, connection.opening.passkey, connection.opening.address)
    if (outcome.failure === undefined) {
      connection.served()
      connection.sendText(scrapeReply(outcome.torrents, outcome.minRequestInterval))
    } else {
      const [first] = infoHashes
      sendRefusal(connection, 'scrape', first === undefined ? NO_INFO_HASH : textFromHex(first), outcome)
    }
    connection.answered(bytes)
  }

  private async recheckUser(connection: SocketConnection): Promise<void> {
    if (!(await this.announces.isUserAllowed(connection.opening.passkey)))
      await this.removal.end(connection, POLICY_VIOLATION, PASSKEY_NOT_VALID)
  }

  private async recheckTorrent(peer: SocketPeer): Promise<void> {
    const refusal = await this.announces.refuseTorrent(peer.torrent)
    if (refusal === undefined) return
    peer.drop()
    await this.removal.remove(peer)
    sendRefusal(peer.connection, 'announce', peer.infoHash, refusal)
  }
}
