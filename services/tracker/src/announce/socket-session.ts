import { randomBytes } from 'node:crypto'
import type { FailureName, InfoHash, Passkey, PeerId } from '@vault-and-tracker/bencode-tracker'
import type { PeerAnnounce, SocketCount } from '../swarm/swarm.ts'
import type { SignalPeer } from './signalling.ts'
import { flat, quote } from './socket-replies.ts'

/** One connection, as the rules see it. */
export type SocketConnection = {
  /**
   * Sends a text frame, given as one character for each byte of its UTF-8, or gives up on a connection whose other end
   * does not read.
   */
  sendText(bytes: string): boolean
  closeWith(code: number, reason: string): void
  /** Whether the other end answers a ping within three seconds. */
  isAlive(): Promise<boolean>
}

/** What is known of a client when it connects. */
export type SocketOpening = {
  readonly passkey: Passkey | undefined
  /** Why every message fails, if so. */
  readonly failure: FailureName | undefined
  /** 4 or 16 bytes. */
  readonly address: Uint8Array
}

/** A peer of one torrent on one connection. */
export type Seat = {
  readonly session: Session
  readonly infoHash: InfoHash
  /** The info hash as messages write it. */
  readonly infoHashJson: string
  readonly peerId: PeerId
  readonly peerIdText: string
  /** The peer id as messages write it. */
  readonly peerIdJson: string
  /** How its offers and answers begin, once there are some. */
  relayStart: string | undefined
  /** The peer among those of this process, while it is in the swarm. */
  peer: SignalPeer<Seat> | undefined
  /** Its last announce that was carried out. */
  announce: PeerAnnounce | undefined
  /** When that was, in milliseconds. */
  announcedAt: number
  complete: number
  incomplete: number
  downloaded: number
  elsewhere: readonly SocketCount[]
  /** Whether it had something left in this session: only then can it complete. */
  wasIncomplete: boolean
  /** It completed, and the swarm could not be told. */
  owesCompletion: boolean
  /** Ends when all announces so far are answered; undefined when they are. */
  running: Promise<void> | undefined
}

/** A connection and its torrents. */
export type Session = SocketOpening & {
  readonly connection: SocketConnection
  /** 8 random bytes: whom its peers belong to in open mode, where nobody has a name. Undefined until they are needed. */
  owner: Buffer | undefined
  /** By the info hash as messages write it. */
  readonly seats: Map<string, Seat>
  /** Which of them sent the last message: the next one is likely to be of the same torrent. */
  lastSeat: Seat | undefined
  malformed: number
  /** Something of it was served, or would have been but for a fault of ours: it is not a stranger's. */
  isKnown: boolean
  closed: boolean
}

/** A connection that has sent nothing yet. */
export function newSession(connection: SocketConnection, opening: SocketOpening): Session {
  const { passkey, failure, address } = opening
  return {
    connection,
    passkey,
    failure,
    address,
    owner: undefined,
    seats: new Map(),
    lastSeat: undefined,
    malformed: 0,
    isKnown: false,
    closed: false,
  }
}

/** Whom the peers of a connection belong to in open mode. */
export function ownerOf(session: Session): Buffer {
  return (session.owner ??= randomBytes(8))
}

/** A peer that has not announced yet. */
export function newSeat(
  session: Session,
  names: Pick<Seat, 'infoHash' | 'infoHashJson' | 'peerId' | 'peerIdText'>,
): Seat {
  const { infoHash, infoHashJson, peerId, peerIdText } = names
  return {
    session,
    infoHash,
    infoHashJson: flat(infoHashJson),
    peerId,
    peerIdText,
    peerIdJson: flat(quote(peerIdText)),
    relayStart: undefined,
    peer: undefined,
    announce: undefined,
    announcedAt: 0,
    complete: 0,
    incomplete: 0,
    downloaded: 0,
    elsewhere: [],
    wasIncomplete: false,
    owesCompletion: false,
    running: undefined,
  }
}
