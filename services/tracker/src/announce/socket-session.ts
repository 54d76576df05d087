import { randomBytes } from 'node:crypto'
import type { FailureName, InfoHash, Passkey, PeerId } from '@vault-and-tracker/bencode-tracker'
import type { PeerAnnounce, SocketCount } from '../swarm/swarm.ts'
import type { SignalPeer } from './signalling.ts'
import { flat, quote } from './socket-replies.ts'

/** What the tracker needs of a WebSocket connection. */
export type SocketConnection = {
  /**
   * Queues a text frame, given as one character for each byte of its UTF-8.
   *
   * @returns false when the connection is not open, or was closed because too much waits to be read by the client
   */
  sendText(bytes: string): boolean
  /** Starts the closing handshake, behind the frames that wait (RFC 6455 section 7.1.2). */
  closeWith(code: number, reason: string): void
  /** Whether the other end answers a ping within three seconds. */
  isAlive(): Promise<boolean>
}

/** What the upgrade request said. */
export type SocketOpening = {
  readonly passkey: Passkey | undefined
  /** Why every message fails, if so. */
  readonly failure: FailureName | undefined
  /** 4 or 16 bytes. */
  readonly address: Uint8Array
}

/** A client's peer in the swarm of one torrent, reached over one connection. */
export type SocketPeer = {
  readonly session: Session
  readonly infoHash: InfoHash
  /** The info hash as messages write it. */
  readonly infoHashJson: string
  readonly peerId: PeerId
  /** The peer id, one character for each byte. */
  readonly peerIdText: string
  /** The peer id as messages write it. */
  readonly peerIdJson: string
  /** What the messages begin with that pass its offers and answers on; undefined until there are some. */
  relayStart: string | undefined
  /** Its entry in the signalling of this process, while it is in the swarm. */
  signalPeer: SignalPeer<SocketPeer> | undefined
  /** Its last announce that the swarm accepted. */
  announce: PeerAnnounce | undefined
  /** When that was, in milliseconds. */
  announcedAt: number
  /** The counts of the last reply. */
  complete: number
  incomplete: number
  downloaded: number
  /** How many sockets other processes have in the swarm, as of the last reply. */
  otherProcesses: readonly SocketCount[]
  /** Whether it was a leecher on this connection: only a leecher can complete. */
  wasIncomplete: boolean
  /** It announced `completed` while Redis was unavailable; the next announce repeats it. */
  completionPending: boolean
  /** Settles when all announces received so far are answered; undefined when none is under way. */
  running: Promise<void> | undefined
}

/** A connection and its peers, one for each torrent. */
export type Session = SocketOpening & {
  readonly connection: SocketConnection
  /** 8 random bytes: the owner of its peers in open mode, where there are no users. Created on first use. */
  owner: Buffer | undefined
  /** By the info hash as messages write it. */
  readonly peers: Map<string, SocketPeer>
  /** The sender of the last message, which is tried first for the next one. */
  lastPeer: SocketPeer | undefined
  /** How many malformed messages it sent. */
  malformed: number
  /** A request was answered, or failed for another reason than the passkey: the first-request timeout is met. */
  wasServed: boolean
  closed: boolean
  /** Which group of sessions is swept with it. */
  sweepGroup: number
}

/** Creates the session of a connection that has sent nothing yet. */
export function newSession(connection: SocketConnection, opening: SocketOpening): Session {
  const { passkey, failure, address } = opening
  return {
    connection,
    passkey,
    failure,
    address,
    owner: undefined,
    peers: new Map(),
    lastPeer: undefined,
    malformed: 0,
    wasServed: false,
    closed: false,
    sweepGroup: 0,
  }
}

/** The owner of a connection's peers in open mode, 8 bytes. */
export function ownerOf(session: Session): Buffer {
  return (session.owner ??= randomBytes(8))
}

const NO_PROCESSES: readonly SocketCount[] = []

/** Creates a peer that has not announced yet. */
export function newSocketPeer(
  session: Session,
  names: Pick<SocketPeer, 'infoHash' | 'infoHashJson' | 'peerId' | 'peerIdText'>,
): SocketPeer {
  const { infoHash, infoHashJson, peerId, peerIdText } = names
  return {
    session,
    infoHash,
    infoHashJson: flat(infoHashJson),
    peerId,
    peerIdText,
    peerIdJson: flat(quote(peerIdText)),
    relayStart: undefined,
    signalPeer: undefined,
    announce: undefined,
    announcedAt: 0,
    complete: 0,
    incomplete: 0,
    downloaded: 0,
    otherProcesses: NO_PROCESSES,
    wasIncomplete: false,
    completionPending: false,
    running: undefined,
  }
}
