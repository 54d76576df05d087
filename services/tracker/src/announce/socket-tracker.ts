import { setTimeout as sleep } from 'node:timers/promises'
import type { InfoHash, Passkey, TrackerAction } from '@vault-and-tracker/bencode-tracker'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import type { Invalidation } from '../invalidation/invalidation.ts'
import type { AddressLimits } from './address-limits.ts'
import { checkTorrent } from './announce-check.ts'
import { createAnnouncingClients } from './announcing-clients.ts'
import type { Directory } from './directory.ts'
import type { Identify } from './identify.ts'
import { createOfferRelay } from './offer-relay.ts'
import { createPeerRemoval } from './peer-removal.ts'
import type { Relays } from './process-relays.ts'
import type { Refusal, Refusals } from './refusal.ts'
import type { ScrapeOutcome, Scrapes } from './scrape.ts'
import type { Signalling } from './signalling.ts'
import { createSocketAnnounceQueue, POLICY_VIOLATION } from './socket-announce-queue.ts'
import type { SocketAnnounces } from './socket-announces.ts'
import type { SocketCounters } from './socket-counters.ts'
import { scanMessage } from './socket-message-scanner.ts'
import { type ClientMessage, NO_INFO_HASH, parseClientMessage } from './socket-messages.ts'
import { failureMessage, quote, scrapeMessage, textFromHex } from './socket-replies.ts'
import {
  newSession,
  type Session,
  type SocketConnection,
  type SocketOpening,
  type SocketPeer,
} from './socket-session.ts'

/** Handles the messages of the WebSocket clients of one process. */
export type SocketTracker = {
  open(connection: SocketConnection, opening: SocketOpening): Session
  /**
   * Takes a message.
   *
   * @param frame the text, valid UTF-8; `undefined` for a binary message, which is malformed
   * @returns settles when it is answered; undefined where it is already
   */
  receive(session: Session, frame: Buffer | undefined): Promise<void> | undefined
  /** The connection is gone. */
  closed(session: Session): void
  /** A message that another process sent. */
  receiveRelay(message: string): void
  /** Closes the connections of a user, and removes the peers of a torrent, that a change forbids. */
  forget(change: Invalidation): void
  /** Checks every connection and peer again: changes may have been missed. */
  revalidateAll(): void
  /**
   * Removes the peers that Redis has expired, of a part of the connections, and repeats what Redis could not be told while
   * it was unavailable.
   */
  sweep(): Promise<void>
  /** Answers what was received, then closes every connection. Returns whether Redis knows of all closed connections. */
  drain(): Promise<boolean>
}

const GOING_AWAY = 1001
const MAX_MALFORMED = 20
/** How long `drain` waits for announces under way. */
const DRAIN_WITHIN_MS = 5_000
/** A sweep checks a twelfth of the connections, and at least so many: all of them at once would block the event loop. */
const SWEEPS = 12
const MIN_SWEPT = 1_000
/** Failures that do not count as a first request. */
const AUTHENTICATION_FAILURES: ReadonlySet<string> = new Set([
  'missing_passkey',
  'invalid_passkey',
  'unknown_passkey',
  'passkey_limit',
  'account_banned',
  'account_suspended',
])

/** The info hash as messages write it. */
function infoHashJsonOf(infoHash: InfoHash | undefined): string {
  return infoHash === undefined ? NO_INFO_HASH : quote(textFromHex(infoHash))
}

/** Creates the tracker of sockets. */
export function createSocketTracker(options: {
  process: string
  maxTorrents: number
  /** Milliseconds within which a further announce is too soon to be told to the swarm. */
  tooSoonMs: number
  /** Milliseconds after which the swarm expires a peer. */
  timeToLiveMs: number
  announces: SocketAnnounces
  scrapes: Scrapes
  limits: AddressLimits
  identify: Identify
  directory: Directory
  signalling: Signalling<SocketPeer>
  relays: Relays
  refusals: Refusals
  counters: SocketCounters
  clock: Clock
}): SocketTracker {
  const { announces, scrapes, limits, identify, directory, signalling, refusals, counters, clock, timeToLiveMs } =
    options
  const sessions = new Set<Session>()
  // No iterator is kept from one sweep to the next: it would hold the sessions that are deleted in between.
  const sweepGroups = Array.from({ length: SWEEPS }, () => new Set<Session>())
  let [opened, nextGroup] = [0, 0]
  const byPasskey = new Map<Passkey, readonly Session[]>()
  const announcing = createAnnouncingClients()
  const peerRemoval = createPeerRemoval({ announces, signalling, announcing })
  let draining = false
  const offerRelay = createOfferRelay({
    ...options,
    end: (session) => void end(session, POLICY_VIOLATION, 'Ping timeout'),
  })

  const refuse = (session: Session, action: TrackerAction, infoHashJson: string, refusal: Refusal): void => {
    session.wasServed ||= !AUTHENTICATION_FAILURES.has(refusal.failure)
    session.connection.sendText(failureMessage(action, infoHashJson, refusal.failure, refusal.detail))
  }

  const forgetSession = (session: Session): Promise<void> => {
    session.closed = true
    sessions.delete(session)
    sweepGroups[session.sweepGroup]?.delete(session)
    if (session.passkey !== undefined) {
      const others = (byPasskey.get(session.passkey) ?? []).filter((each) => each !== session)
      if (others.length > 0) byPasskey.set(session.passkey, others)
      else byPasskey.delete(session.passkey)
    }
    return peerRemoval.removeAll(session)
  }

  /** Closes a connection after its peers are removed, so that no count includes a closed connection. */
  const end = async (session: Session, code: number, reason: string): Promise<void> => {
    if (session.closed) return
    await forgetSession(session)
    session.connection.closeWith(code, reason)
  }

  const queue = createSocketAnnounceQueue({ ...options, announcing, peerRemoval, offerRelay, refuse, end })

  const scrape = async (session: Session, message: Extract<ClientMessage, { kind: 'scrape' }>): Promise<void> => {
    const { infoHashes } = message
    const { passkey, address } = session
    const carryOut = async (): Promise<ScrapeOutcome> => {
      const refusal = await limits.refuseScrape(address)
      if (refusal !== undefined) return refusal
      const found = await scrapes.scrape({ infoHashes, passkey }, passkey)
      return found.failure === undefined ? found : limits.limitUnknownPasskeys('scrape', found, address)
    }
    const outcome = await carryOut().catch((error: unknown) => refusals.refuseError('scrape', error))
    if (outcome.failure !== undefined) refuse(session, 'scrape', infoHashJsonOf(infoHashes[0]), outcome)
    else {
      session.wasServed = true
      session.connection.sendText(scrapeMessage(outcome.torrents, outcome.minRequestInterval))
    }
  }

  const malformed = (session: Session, message: Extract<ClientMessage, { kind: 'malformed' }>): void => {
    session.malformed += 1
    const { action, infoHashJson } = message
    const { failure, detail } = refusals.refuse(action, message.failure)
    session.connection.sendText(failureMessage(action, infoHashJson, failure, detail))
    if (session.malformed >= MAX_MALFORMED) void end(session, POLICY_VIOLATION, 'Too many malformed messages')
  }

  const recheckUser = async (session: Session): Promise<void> => {
    if (typeof (await identify(session.passkey)) === 'string') await end(session, POLICY_VIOLATION, 'Passkey not valid')
  }

  const recheckTorrent = async (socketPeer: SocketPeer): Promise<void> => {
    const torrent = await directory.torrent(socketPeer.infoHash)
    const failure = torrent === undefined ? 'unregistered_torrent' : checkTorrent(torrent)
    if (failure === undefined) return
    const { peers } = socketPeer.session
    if (peers.get(socketPeer.infoHashJson) === socketPeer) peers.delete(socketPeer.infoHashJson)
    await peerRemoval.remove(socketPeer)
    refuse(
      socketPeer.session,
      'announce',
      socketPeer.infoHashJson,
      refusals.refuse('announce', failure, torrent?.reason),
    )
  }

  /** While Postgres is unavailable, nothing is removed. */
  const ignore = (): void => undefined

  const receiveAny = (session: Session, message: ClientMessage): Promise<void> | undefined => {
    counters.countMessage(message.kind)
    if (message.kind === 'malformed') malformed(session, message)
    else if (session.failure !== undefined) {
      const action = message.kind === 'scrape' ? 'scrape' : 'announce'
      const infoHashJson = message.kind === 'announce' ? message.infoHashJson : NO_INFO_HASH
      refuse(session, action, infoHashJson, refusals.refuse(action, session.failure))
    } else if (message.kind === 'announce') return queue.announce(session, message)
    else if (message.kind === 'scrape') return scrape(session, message)
    else offerRelay.relayAnswer(session.peers.get(message.infoHashJson), message)
    return undefined
  }

  return {
    open: (connection, opening) => {
      const session = newSession(connection, opening)
      sessions.add(session)
      session.sweepGroup = opened++ % SWEEPS
      sweepGroups[session.sweepGroup]?.add(session)
      const { passkey } = opening
      if (passkey !== undefined) byPasskey.set(passkey, [...(byPasskey.get(passkey) ?? []), session])
      return session
    },

    receive: (session, frame) => {
      if (session.closed || draining) return undefined
      const text = frame === undefined ? '' : frame.toString('latin1')
      const { peers, lastPeer: last } = session
      const isThere = last !== undefined && peers.get(last.infoHashJson) === last
      const scanned = scanMessage(text, peers, isThere ? last : undefined)
      if (scanned === undefined) return receiveAny(session, parseClientMessage(text))
      session.lastPeer = scanned.peer
      counters.countMessage(scanned.kind)
      if (scanned.kind === 'announce') return queue.announce(session, scanned)
      offerRelay.relayAnswer(scanned.peer, scanned)
      return undefined
    },

    closed: (session) => {
      if (!session.closed) void forgetSession(session)
    },

    receiveRelay: (message) => offerRelay.receive(message),

    forget: (change) => {
      if (change.kind === 'user')
        for (const session of byPasskey.get(change.passkey as Passkey) ?? []) recheckUser(session).catch(ignore)
      if (change.kind === 'torrent') {
        const joined = signalling.peersOf(textFromHex(change.infoHash)).map(({ socket }) => socket)
        for (const socketPeer of new Set([...joined, ...queue.peersUnderWay(change.infoHash)]))
          recheckTorrent(socketPeer).catch(ignore)
      }
    },

    revalidateAll: () => {
      for (const session of sessions) {
        if (session.failure === undefined) recheckUser(session).catch(ignore)
        for (const socketPeer of session.peers.values()) recheckTorrent(socketPeer).catch(ignore)
      }
    },

    sweep: async () => {
      const due = clock.now() - timeToLiveMs
      const expired: SocketPeer[] = []
      for (let [swept, groups] = [0, 0]; groups < SWEEPS && swept < MIN_SWEPT; groups++) {
        const group = sweepGroups[nextGroup]
        nextGroup = (nextGroup + 1) % SWEEPS
        swept += group?.size ?? 0
        for (const session of group ?? [])
          for (const socketPeer of session.peers.values())
            if (socketPeer.signalPeer !== undefined && socketPeer.announcedAt < due) expired.push(socketPeer)
      }
      for (const { session, infoHashJson } of expired) session.peers.delete(infoHashJson)
      await Promise.all(expired.map((socketPeer) => peerRemoval.remove(socketPeer)))
      await peerRemoval.retry()
    },

    drain: async () => {
      draining = true
      const running = [...sessions].flatMap(({ peers }) =>
        [...peers.values()].flatMap((socketPeer) => socketPeer.running ?? []),
      )
      await Promise.race([Promise.all(running), sleep(DRAIN_WITHIN_MS, undefined, { ref: false })])
      await Promise.all([...sessions].map((session) => end(session, GOING_AWAY, 'The tracker restarts')))
      return peerRemoval.finish()
    },
  }
}
