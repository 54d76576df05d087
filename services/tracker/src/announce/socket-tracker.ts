import { setTimeout as sleep } from 'node:timers/promises'
import type { Passkey, TrackerAction } from '@vault-and-tracker/bencode-tracker'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import type { Invalidation } from '../invalidation/invalidation.ts'
import { checkTorrent } from './announce-check.ts'
import { createClaims } from './claims.ts'
import { createDepartures } from './departures.ts'
import type { Directory } from './directory.ts'
import type { Identify } from './identify.ts'
import { createIntroductions, latin1 } from './introductions.ts'
import type { Relays } from './process-relays.ts'
import type { Refusal, Refusals } from './refusal.ts'
import type { Scrapes } from './scrape.ts'
import type { Signalling } from './signalling.ts'
import type { SocketAnnounces } from './socket-announces.ts'
import type { SocketCounters } from './socket-counters.ts'
import { scanMessage } from './socket-message-scanner.ts'
import { type ClientMessage, NO_INFO_HASH, parseClientMessage } from './socket-messages.ts'
import { failureMessage } from './socket-replies.ts'
import { newSession, type Seat, type Session, type SocketConnection, type SocketOpening } from './socket-session.ts'
import { createSocketTurns, POLICY_VIOLATION } from './socket-turns.ts'

/** What the clients of one process say over their sockets, and what becomes of it. */
export type SocketTracker = {
  open(connection: SocketConnection, opening: SocketOpening): Session
  /**
   * Takes a text frame, valid UTF-8; `undefined` stands for a binary one, which is malformed. Returns when it is
   * answered, where that has to wait.
   */
  receive(session: Session, frame: Buffer | undefined): Promise<void> | undefined
  /** The connection is gone. */
  closed(session: Session): void
  /** A message that another process sent. */
  receiveRelay(message: string): void
  /** Ends what a change forbids. */
  forget(change: Invalidation): void
  /** Looks at every connection again: changes may have been missed. */
  revalidateAll(): void
  /**
   * Ends peers that Redis expired, among the connections whose turn it is, and repeats what Redis could not be told while
   * it was away.
   */
  sweep(): Promise<void>
  /** Answers what was received, then closes every connection. Returns whether Redis knows of all that it closed. */
  drain(): Promise<boolean>
}

const GOING_AWAY = 1001
const MAX_MALFORMED = 20
/** At the stop, no announce is waited for any longer. */
const DRAIN_WITHIN_MS = 5_000
/** A sweep looks at one of so many parts of the connections, or at so many: looking at all of them at once takes long. */
const SWEEPS = 12
const MIN_SWEPT = 1_000
/** Whoever is behind such a connection is a stranger. */
const STRANGER: ReadonlySet<string> = new Set([
  'missing_passkey',
  'invalid_passkey',
  'unknown_passkey',
  'account_banned',
  'account_suspended',
])

/** Creates the tracker of sockets. */
export function createSocketTracker(options: {
  process: string
  maxTorrents: number
  /** Milliseconds within which a further announce tells nothing new. */
  tooSoonMs: number
  /** Milliseconds after which the swarm expires a peer. */
  timeToLiveMs: number
  announces: SocketAnnounces
  scrapes: Scrapes
  identify: Identify
  directory: Directory
  signalling: Signalling<Seat>
  relays: Relays
  refusals: Refusals
  counters: SocketCounters
  clock: Clock
}): SocketTracker {
  const { announces, scrapes, identify, directory, signalling, refusals, counters, clock, timeToLiveMs } = options
  const sessions = new Set<Session>()
  const byPasskey = new Map<Passkey, readonly Session[]>()
  const claims = createClaims()
  const departures = createDepartures({ announces, signalling, claims })
  let draining = false
  const introductions = createIntroductions({
    ...options,
    end: (session) => void end(session, POLICY_VIOLATION, 'Ping timeout'),
  })

  const refuse = (session: Session, action: TrackerAction, infoHashJson: string, refusal: Refusal): void => {
    session.isKnown ||= !STRANGER.has(refusal.failure)
    session.connection.sendText(failureMessage(action, infoHashJson, refusal.failure, refusal.detail))
  }

  const forgetSession = (session: Session): Promise<void> => {
    session.closed = true
    sessions.delete(session)
    if (session.passkey !== undefined) {
      const others = (byPasskey.get(session.passkey) ?? []).filter((each) => each !== session)
      if (others.length > 0) byPasskey.set(session.passkey, others)
      else byPasskey.delete(session.passkey)
    }
    return departures.leaveAll(session)
  }

  /** Ends a connection: its torrents first, so that whoever sees it closed sees it gone. */
  const end = async (session: Session, code: number, reason: string): Promise<void> => {
    if (session.closed) return
    await forgetSession(session)
    session.connection.closeWith(code, reason)
  }

  const turns = createSocketTurns({ ...options, claims, departures, introductions, refuse, end })

  const scrape = async (session: Session, message: Extract<ClientMessage, { kind: 'scrape' }>): Promise<void> => {
    const { infoHashes } = message
    const outcome = await scrapes
      .scrape({ infoHashes, passkey: session.passkey }, session.passkey)
      .catch((error: unknown) => refusals.refuseError('scrape', error))
    if (outcome.failure !== undefined) refuse(session, 'scrape', introductions.textOfFirst(infoHashes), outcome)
    else {
      session.isKnown = true
      session.connection.sendText(introductions.scraped(outcome))
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

  const recheckTorrent = async (seat: Seat): Promise<void> => {
    const torrent = await directory.torrent(seat.infoHash)
    const failure = torrent === undefined ? 'unregistered_torrent' : checkTorrent(torrent)
    if (failure === undefined) return
    const { seats } = seat.session
    if (seats.get(seat.infoHashJson) === seat) seats.delete(seat.infoHashJson)
    await departures.leave(seat)
    refuse(seat.session, 'announce', seat.infoHashJson, refusals.refuse('announce', failure, torrent?.reason))
  }

  /** Without Postgres nothing is known to be forbidden. */
  const ignore = (): void => undefined

  const receiveAny = (session: Session, message: ClientMessage): Promise<void> | undefined => {
    counters.countMessage(message.kind)
    if (message.kind === 'malformed') malformed(session, message)
    else if (session.failure !== undefined) {
      const action = message.kind === 'scrape' ? 'scrape' : 'announce'
      const infoHashJson = message.kind === 'announce' ? message.infoHashJson : NO_INFO_HASH
      refuse(session, action, infoHashJson, refusals.refuse(action, session.failure))
    } else if (message.kind === 'announce') return turns.announce(session, message)
    else if (message.kind === 'scrape') return scrape(session, message)
    else introductions.answer(session.seats.get(message.infoHashJson), message)
    return undefined
  }

  let unswept = sessions.values()
  /** The sessions that this sweep looks at: after some sweeps, each was looked at. */
  function* nextSessions(): Generator<Session> {
    const count = Math.max(MIN_SWEPT, Math.ceil(sessions.size / SWEEPS))
    for (let i = 0; i < count && i < sessions.size; i++) {
      let next = unswept.next()
      if (next.done === true) {
        unswept = sessions.values()
        next = unswept.next()
      }
      if (next.done === true) return
      yield next.value
    }
  }

  return {
    open: (connection, opening) => {
      const session = newSession(connection, opening)
      sessions.add(session)
      const { passkey } = opening
      if (passkey !== undefined) byPasskey.set(passkey, [...(byPasskey.get(passkey) ?? []), session])
      return session
    },

    receive: (session, frame) => {
      if (session.closed || draining) return undefined
      const text = frame === undefined ? '' : frame.toString('latin1')
      const { seats, lastSeat: last } = session
      const isThere = last !== undefined && seats.get(last.infoHashJson) === last
      const scanned = scanMessage(text, seats, isThere ? last : undefined)
      if (scanned === undefined) return receiveAny(session, parseClientMessage(text))
      session.lastSeat = scanned.peer
      counters.countMessage(scanned.kind)
      if (scanned.kind === 'announce') return turns.announce(session, scanned)
      introductions.answer(scanned.peer, scanned)
      return undefined
    },

    closed: (session) => {
      if (!session.closed) void forgetSession(session)
    },

    receiveRelay: (message) => introductions.receive(message),

    forget: (change) => {
      if (change.kind === 'user')
        for (const session of byPasskey.get(change.passkey as Passkey) ?? []) recheckUser(session).catch(ignore)
      if (change.kind === 'torrent') {
        const peers = signalling.peersOf(latin1(Buffer.from(change.infoHash, 'hex')))
        const seats = new Set([...peers.map(({ socket }) => socket), ...turns.underWay(change.infoHash)])
        for (const seat of seats) recheckTorrent(seat).catch(ignore)
      }
    },

    revalidateAll: () => {
      for (const session of sessions) {
        if (session.failure === undefined) recheckUser(session).catch(ignore)
        for (const seat of session.seats.values()) recheckTorrent(seat).catch(ignore)
      }
    },

    sweep: async () => {
      const due = clock.now() - timeToLiveMs
      const expired: Seat[] = []
      for (const session of nextSessions())
        for (const seat of session.seats.values())
          if (seat.peer !== undefined && seat.announcedAt < due) expired.push(seat)
      for (const { session, infoHashJson } of expired) session.seats.delete(infoHashJson)
      await Promise.all(expired.map((seat) => departures.leave(seat)))
      await departures.retry()
    },

    drain: async () => {
      draining = true
      const running = [...sessions].flatMap(({ seats }) => [...seats.values()].flatMap((seat) => seat.running ?? []))
      await Promise.race([Promise.all(running), sleep(DRAIN_WITHIN_MS, undefined, { ref: false })])
      await Promise.all([...sessions].map((session) => end(session, GOING_AWAY, 'The tracker restarts')))
      return departures.settle()
    },
  }
}
