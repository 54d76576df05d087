import type { TrackerAction } from '@vault-and-tracker/bencode-tracker'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { transition } from '../swarm/peer-state.ts'
import type { PeerAnnounce } from '../swarm/swarm.ts'
import type { Departures } from './departures.ts'
import { type Introductions, latin1, type Passed } from './introductions.ts'
import type { Refusal, Refusals } from './refusal.ts'
import type { Signalling } from './signalling.ts'
import type { SocketAnnounces, SocketReply } from './socket-announces.ts'
import type { ClientMessage } from './socket-messages.ts'
import { announceMessage } from './socket-replies.ts'
import { newSeat, ownerOf, type Seat, type Session } from './socket-session.ts'

/** The announces of the connections of one process: those of one torrent on one connection take turns. */
export type SocketTurns = {
  /** Carries an announce out, answers it and passes its offers on. */
  announce(session: Session, message: Announce): void
}

type Announce = Extract<ClientMessage, { kind: 'announce' }>

/** RFC 6455 section 7.4.1. */
export const POLICY_VIOLATION = 1008
/** What may succeed soon: the peer stays, and announces again. */
const TRANSIENT: ReadonlySet<string> = new Set(['tracker_unavailable', 'internal_error', 'announce_limit'])

/** Creates it; `refuse` answers with a refusal, and `end` closes a connection. */
export function createSocketTurns(options: {
  maxTorrents: number
  /** Milliseconds within which a further announce tells nothing new. */
  tooSoonMs: number
  announces: SocketAnnounces
  departures: Departures
  introductions: Introductions
  signalling: Signalling<Seat>
  refusals: Refusals
  refuse: (session: Session, action: TrackerAction, infoHashText: string, refusal: Refusal) => void
  end: (session: Session, code: number, reason: string) => Promise<void>
  clock: Clock
}): SocketTurns {
  const { announces, departures, introductions, signalling, refusals, refuse, end, clock } = options

  const answer = (seat: Seat, reply: { interval: number; minInterval: number; warning: string | undefined }): void => {
    const { session, infoHashJson, complete, incomplete, downloaded } = seat
    session.isKnown = true
    session.line.send(announceMessage({ infoHashJson, complete, incomplete, downloaded, ...reply }))
  }

  /** A client that is known already is refused while its socket lives. */
  const claim = (seat: Seat, peer: PeerAnnounce): boolean | Promise<boolean> => {
    const known = signalling.find(latin1(peer.swarm), latin1(peer.owner), seat.peerIdText)
    if (known === undefined || known.socket.session === seat.session) return true
    return endUnlessAlive(known.socket.session)
  }

  const endUnlessAlive = async (session: Session): Promise<boolean> => {
    if (await session.line.isAlive()) return false
    await end(session, POLICY_VIOLATION, 'Ping timeout')
    return true
  }

  const carryOut = async (seat: Seat, message: Announce): Promise<void> => {
    const { session } = seat
    const { passkey, address } = session
    // Seeders send `completed` before they start.
    const isNews = message.request.event !== 'completed' || seat.wasIncomplete
    const request = isNews ? message.request : { ...message.request, event: 'started' as const }
    let passed: Passed | undefined
    const asked = {
      request,
      passkey,
      address,
      owner: () => ownerOf(session),
      claim: (peer: PeerAnnounce) => claim(seat, peer),
      // The offers of a peer that is in the swarm need not wait for Redis.
      admitted: ({ state }: PeerAnnounce) => {
        if (seat.peer === undefined || state === 'stopped') return
        passed ??= introductions.pass(seat, { ...seat.peer, seeds: state !== 'leecher' }, message.offers)
      },
    }
    let outcome = await announces.announce(asked, false)
    if (outcome.failure === undefined && outcome.holder !== undefined) {
      const alive = await introductions.probe(outcome.holder.toString('hex'), outcome.peer)
      outcome = alive ? refusals.refuse('announce', 'peer_id_in_use') : await announces.announce(asked, true)
    }
    if (outcome.failure !== undefined) {
      if (!TRANSIENT.has(outcome.failure)) await departures.leave(seat)
      if (seat.peer === undefined) session.seats.delete(seat.infoHashText)
      refuse(session, 'announce', seat.infoHashText, outcome)
      return
    }
    if (outcome.holder !== undefined) return
    seat.wasIncomplete ||= request.left > 0 && outcome.joined
    take(seat, outcome)
    answer(seat, outcome)
    if (seat.peer === undefined) return
    if (passed === undefined) introductions.pass(seat, seat.peer, message.offers)
    else introductions.passRest(seat, seat.peer, passed)
  }

  /** Notes the outcome of an announce. */
  const take = (seat: Seat, reply: SocketReply): void => {
    const { session } = seat
    const { complete, incomplete, downloaded, elsewhere, peer } = reply
    Object.assign(seat, { complete, incomplete, downloaded, elsewhere, announcedAt: clock.now() })
    if (!reply.joined) {
      if (seat.peer !== undefined && signalling.bySerial(seat.peer.serial)?.socket === seat) signalling.leave(seat.peer)
      seat.peer = undefined
      session.seats.delete(seat.infoHashText)
      return
    }
    seat.announce = peer
    seat.peer = signalling.join({
      swarm: latin1(peer.swarm),
      owner: latin1(peer.owner),
      peerId: seat.peerIdText,
      socket: seat,
      seeds: peer.state !== 'leecher',
    })
    // The socket closed while the announce was under way.
    if (session.closed) void departures.leave(seat)
  }

  const isTooSoon = (seat: Seat, { request }: Announce): boolean => {
    if (seat.announce === undefined || seat.peer === undefined || seat.running !== undefined) return false
    if (request.event === 'stopped' || request.event === 'completed') return false
    if (transition(request.event, request.left).state !== seat.announce.state) return false
    return clock.now() - seat.announcedAt < options.tooSoonMs
  }

  return {
    announce: (session, message) => {
      const { request, infoHashText, peerIdText } = message
      const known = session.seats.get(infoHashText)
      if (known !== undefined && known.peerIdText !== peerIdText) {
        refuse(session, 'announce', infoHashText, refusals.refuse('announce', 'several_peer_ids'))
        return
      }
      if (known === undefined && session.seats.size >= options.maxTorrents) {
        refuse(session, 'announce', infoHashText, refusals.refuse('announce', 'too_many_torrents'))
        return
      }
      const seat = known ?? newSeat(session, { ...request, infoHashText, peerIdText })
      if (seat.peer !== undefined && isTooSoon(seat, message)) {
        answer(seat, { ...announces.repeat(request), warning: undefined })
        introductions.pass(seat, seat.peer, message.offers)
        return
      }
      session.seats.set(infoHashText, seat)
      const run = async (): Promise<void> => {
        try {
          // An announce that waited its turn may find that the one before it ended the peer.
          if (!session.closed) session.seats.set(infoHashText, seat)
          await carryOut(seat, message)
        } catch (error) {
          if (seat.peer === undefined) session.seats.delete(seat.infoHashText)
          refuse(session, 'announce', infoHashText, refusals.refuseError('announce', error))
        }
      }
      const running: Promise<void> = (seat.running === undefined ? run() : seat.running.then(run)).finally(() => {
        if (seat.running === running) seat.running = undefined
      })
      seat.running = running
    },
  }
}
