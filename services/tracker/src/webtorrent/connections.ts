import type { FailureName, InfoHash, Passkey } from '@vault-and-tracker/bencode-tracker'
import type { PeerAnnounce } from '../swarm/swarm.ts'
import { relayStart } from './messages.ts'
import type { ProcessCount, SignalPeer, Waiting } from './signalling.ts'

/** The parameters of the upgrade request. */
export type SocketOpening = {
  readonly passkey: Passkey | undefined
  /** The failure of every message, if any. */
  readonly failure: FailureName | undefined
  /** 4 or 16 bytes. */
  readonly address: Uint8Array
  /** The key of the limit per address. */
  readonly addressKey: string
  /** The id of the user, or the passkey if that is unknown: the key of the limit per user. */
  readonly member: string | undefined
  /** When the passkey expires, in milliseconds since the epoch. */
  readonly endsAt: number | undefined
}

/** A close code of RFC 6455 section 7.4.1. */
export const POLICY_VIOLATION = 1008

/** A WebSocket connection with the state of its client. */
export type SocketConnection = {
  readonly opening: SocketOpening
  /** The peers by info hash, as spelled in messages. */
  readonly peers: Map<string, SocketPeer>
  /** 8 random bytes: the owner of its peers in open mode, which has no users. Created on first use. */
  owner: Buffer | undefined
  /** Number of malformed messages. */
  malformed: number
  /** Whether its peers are removed. No further messages are handled. */
  isEnded: boolean
  /** The group of connections that it belongs to. */
  group: number
  /** Queues a text frame, one character per byte. Returns false if the client has left or reads too slowly. */
  sendText(bytes: string): boolean
  /** Starts the closing handshake after the queued frames (RFC 6455 section 7.1.2). */
  closeWith(code: number, reason: string): void
  /** Whether the client answers a ping within three seconds. */
  isAlive(): Promise<boolean>
  /** Keeps the connection, after a request that succeeded or failed for another reason than the passkey. */
  served(): void
  /** Counts the bytes of an unanswered message. */
  waitFor(bytes: number): void
  answered(bytes: number): void
  /** Pings the client, or ends the connection if nothing was received since the last ping. */
  beat(): void
  terminate(): void
}

/** A client's peer in the swarm of one torrent, reached over one connection. */
export class SocketPeer implements SignalPeer {
  readonly connection: SocketConnection
  /** As spelled in messages, one character per byte. */
  readonly infoHash: string
  readonly peerId: string
  readonly torrent: InfoHash
  serial = 0
  swarm = ''
  owner = ''
  seeds = false
  place = 0
  waiting: Map<string, Waiting> | undefined = undefined
  /** Its last announce that the swarm accepted, with the time in milliseconds. */
  announce: PeerAnnounce | undefined = undefined
  announcedAt = 0
  /** The counts of the last reply. */
  complete = 0
  incomplete = 0
  downloaded = 0
  /** The other processes with peers of the swarm, as of the last reply. */
  elsewhere: readonly ProcessCount[] = NOWHERE
  /** Whether it was a leecher on this connection: only a leecher can complete. */
  wasIncomplete = false
  /** Whether it announced `completed` while Redis was unavailable. The next announce repeats it. */
  completionPending = false
  private start: string | undefined = undefined

  constructor(connection: SocketConnection, infoHash: string, peerId: string, torrent: InfoHash) {
    this.connection = connection
    this.infoHash = infoHash
    this.peerId = peerId
    this.torrent = torrent
  }

  /** The common beginning of its offers and answers, which is only created for the first one. */
  get relayStart(): string {
    return (this.start ??= relayStart(this.infoHash, this.peerId))
  }

  get isJoined(): boolean {
    return this.serial !== 0
  }

  /** Whether it is still registered with its connection. */
  get isKept(): boolean {
    return this.connection.peers.get(this.infoHash) === this
  }

  /** Unregisters it from its connection. */
  drop(): void {
    if (this.isKept) this.connection.peers.delete(this.infoHash)
  }
}

const NOWHERE: readonly ProcessCount[] = []
/** Timers visit a few connections at a time, so that they do not delay messages. */
const GROUPS = 300

/** The open connections of one process. */
export class Connections {
  readonly groups = Array.from({ length: GROUPS }, () => new Set<SocketConnection>())
  private readonly byAddress = new Map<string, number>()
  private readonly byMember = new Map<string, number>()
  private readonly byPasskey = new Map<Passkey, readonly SocketConnection[]>()
  private readonly ending = new Set<SocketConnection>()

  add(connection: SocketConnection): void {
    const { passkey, addressKey, member, endsAt } = connection.opening
    connection.group = Math.floor(Math.random() * GROUPS)
    this.groups[connection.group]?.add(connection)
    change(this.byAddress, addressKey, 1)
    if (member !== undefined) change(this.byMember, member, 1)
    if (endsAt !== undefined) this.ending.add(connection)
    if (passkey !== undefined) this.byPasskey.set(passkey, [...this.of(passkey), connection])
  }

  remove(connection: SocketConnection): void {
    const { passkey, addressKey, member } = connection.opening
    this.groups[connection.group]?.delete(connection)
    change(this.byAddress, addressKey, -1)
    if (member !== undefined) change(this.byMember, member, -1)
    this.ending.delete(connection)
    if (passkey === undefined) return
    const others = this.of(passkey).filter((each) => each !== connection)
    if (others.length > 0) this.byPasskey.set(passkey, others)
    else this.byPasskey.delete(passkey)
  }

  /** Whether the address, or the user if known, has reached the limit of connections. */
  isFull({ addressKey, member }: Pick<SocketOpening, 'addressKey'> & Partial<SocketOpening>, limit: number): boolean {
    const ofMember = member === undefined ? 0 : (this.byMember.get(member) ?? 0)
    return ofMember >= limit || (this.byAddress.get(addressKey) ?? 0) >= limit
  }

  /** The connections whose passkey has expired at a time. */
  endedAt(now: number): SocketConnection[] {
    return [...this.ending].filter(({ opening: { endsAt } }) => endsAt !== undefined && endsAt <= now)
  }

  /** The connections with a passkey. */
  of(passkey: Passkey): readonly SocketConnection[] {
    return this.byPasskey.get(passkey) ?? []
  }

  all(): SocketConnection[] {
    return this.groups.flatMap((group) => [...group])
  }
}

function change<Key>(counts: Map<Key, number>, key: Key, by: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
