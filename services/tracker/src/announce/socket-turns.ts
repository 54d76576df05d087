import type { AnnounceEvent, AnnounceRequest, Passkey, TrackerAction } from '@vault-and-tracker/bencode-tracker'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { transition } from '../swarm/peer-state.ts'
import type { PeerAnnounce, ProcessId } from '../swarm/swarm.ts'
import { type Claims, type ClientName, clientName } from './claims.ts'
import type { Departures } from './departures.ts'
import type { Introductions, Passed } from './introductions.ts'
import type { Refusal, Refusals } from './refusal.ts'
import type { Offer, Signalling } from './signalling.ts'
import type { SocketAnnounces, SocketOutcome, SocketReply, SocketRequest } from './socket-announces.ts'
import type { AnnounceMessage } from './socket-messages.ts'
import { announceMessage } from './socket-replies.ts'
import { newSeat, ownerOf, type Seat, type Session } from './socket-session.ts'

/** The announces of the connections of one process: those of one torrent on one connection take turns. */
export type SocketTurns = {
  /** Carries an announce out, answers it and passes its offers on; returns when, unless that was at once. */
  announce(session: Session, message: AnnounceMessage): Promise<void> | undefined
  /** Those of a torrent whose announce is not answered yet. */
  underWay(infoHash: string): readonly Seat[]
}

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
  claims: Claims
  departures: Departures
  introductions: Introductions
  signalling: Signalling<Seat>
  refusals: Refusals
  refuse: (session: Session, action: TrackerAction, infoHashJson: string, refusal: Refusal) => void
  end: (session: Session, code: number, reason: string) => Promise<void>
  clock: Clock
}): SocketTurns {
  const { announces, claims, departures, introductions, signalling, refusals, refuse, end, clock } = options

  const answer = (seat: Seat, interval: number, minInterval: number, warning: string | undefined): void => {
    const { session, infoHashJson, complete, incomplete, downloaded } = seat
    session.isKnown = true
    session.connection.sendText(
      announceMessage({ infoHashJson, complete, incomplete, downloaded, interval, minInterval, warning }),
    )
  }

  const running = new Set<Seat>()

  /** A client that is known already is refused while its socket lives. */
  const claim = (seat: Seat, client: ClientName): boolean | Promise<boolean> => {
    const known = signalling.find(client.swarm, client.owner, client.peerId)?.socket
    const holder = claims.holder(client) ?? known
    if (holder !== undefined && holder.session !== seat.session && !holder.session.closed)
      return endUnlessAlive(holder.session).then((ended) => ended && claim(seat, client))
    claims.take(client, seat)
    return true
  }

  const rules: TurnRules = {
    claim: (turn, peer) => {
      const client = clientName(peer, turn.seat.peerIdText)
      turn.client = client
      turn.peer = peer
      return claim(turn.seat, client)
    },
    // The offers of a peer that is in the swarm need not wait for Redis.
    checked: (turn, { state }) => {
      const { seat } = turn
      if (seat.peer === undefined || state === 'stopped') return
      const { serial, swarm, owner, peerId, socket } = seat.peer
      const peer = { serial, swarm, owner, peerId, socket, seeds: state !== 'leecher' }
      turn.passed ??= introductions.pass(seat, peer, turn.offers)
    },
  }

  const endUnlessAlive = async (session: Session): Promise<boolean> => {
    if (await session.connection.isAlive()) return false
    await end(session, POLICY_VIOLATION, 'Ping timeout')
    return true
  }

  const giveUp = async (seat: Seat, { event }: AnnounceRequest, refusal: Refusal): Promise<void> => {
    const isTransient = TRANSIENT.has(refusal.failure)
    // A client says once that it stops, or that it has completed.
    if (event === 'stopped' || !isTransient) await departures.leave(seat)
    if (event === 'completed' && isTransient) seat.owesCompletion = true
    if (seat.peer === undefined) vacate(seat)
    refuse(seat.session, 'announce', seat.infoHashJson, refusal)
  }

  const release = (turn: Turn): void => {
    if (turn.client !== undefined) claims.release(turn.client, turn.seat)
  }

  const fail = async (turn: Turn, error: unknown): Promise<void> => {
    const { seat, peer } = turn
    await giveUp(seat, turn.request, refusals.refuseError('announce', error))
    // Redis may have heard of it all the same.
    if (peer !== undefined && seat.peer === undefined) departures.note(peer)
    release(turn)
  }

  /** Goes on when the swarm has answered. */
  const finish = (turn: Turn, outcome: SocketOutcome): Promise<void> | undefined => {
    const { seat, request, offers } = turn
    if (outcome.failure !== undefined) return giveUp(seat, request, outcome).then(() => release(turn))
    if (outcome.holder === undefined) {
      seat.wasIncomplete ||= request.left > 0 && outcome.joined
      if (request.event === 'completed') seat.owesCompletion = false
      if (take(seat, outcome, turn.client)) {
        answer(seat, outcome.interval, outcome.minInterval, outcome.warning)
        if (seat.peer !== undefined && turn.passed !== undefined) introductions.passRest(seat, seat.peer, turn.passed)
        else if (seat.peer !== undefined) introductions.pass(seat, seat.peer, offers)
      }
    }
    release(turn)
    return undefined
  }

  /** Another process has noted this client: it is asked whether its connection still lives. */
  const takeOver = async (turn: Turn, holder: ProcessId, peer: PeerAnnounce): Promise<void> => {
    const alive = await introductions.probe(holder.toString('hex'), peer)
    const outcome = alive ? refusals.refuse('announce', 'peer_id_in_use') : await announces.announce(turn, true)
    await finish(turn, outcome)
  }

  const settle = (turn: Turn, outcome: SocketOutcome): Promise<void> | undefined => {
    try {
      const isHeld = outcome.failure === undefined && outcome.holder !== undefined
      if (!isHeld) return finish(turn, outcome)
      return takeOver(turn, outcome.holder, outcome.peer).catch((error: unknown) => fail(turn, error))
    } catch (error) {
      return fail(turn, error)
    }
  }

  const carryOut = (seat: Seat, message: AnnounceMessage): Promise<void> | undefined => {
    const event = eventOf(seat, message.request)
    const request = event === message.request.event ? message.request : { ...message.request, event }
    const turn = new Turn(seat, request, message.offers, rules)
    try {
      const outcome = announces.announce(turn, false)
      if (!(outcome instanceof Promise)) return settle(turn, outcome)
      return outcome.then(
        (each) => settle(turn, each),
        (error: unknown) => fail(turn, error),
      )
    } catch (error) {
      return fail(turn, error)
    }
  }

  /** Notes the outcome of an announce; returns false where nobody waits for it any more. */
  const take = (seat: Seat, reply: SocketReply, client = clientName(reply.peer, seat.peerIdText)): boolean => {
    const { session } = seat
    const { complete, incomplete, downloaded, elsewhere, peer } = reply
    seat.complete = complete
    seat.incomplete = incomplete
    seat.downloaded = downloaded
    seat.elsewhere = elsewhere
    seat.announcedAt = clock.now()
    if (!reply.joined) {
      if (seat.peer !== undefined && signalling.bySerial(seat.peer.serial)?.socket === seat) signalling.leave(seat.peer)
      seat.peer = undefined
      vacate(seat)
      return true
    }
    // The socket closed while the announce was under way, or the torrent was removed.
    const isWanted = !session.closed && session.seats.get(seat.infoHashJson) === seat
    const holder = claims.holder(client)
    if (!isWanted && holder !== undefined && holder !== seat) return false
    seat.announce = peer
    seat.peer = signalling.join({
      swarm: client.swarm,
      owner: client.owner,
      peerId: client.peerId,
      socket: seat,
      seeds: peer.state !== 'leecher',
    })
    if (!isWanted) void departures.leave(seat)
    return isWanted
  }

  const isTooSoon = (seat: Seat, { request }: AnnounceMessage): boolean => {
    if (seat.announce === undefined || seat.peer === undefined || seat.running !== undefined) return false
    if (request.event === 'stopped' || request.event === 'completed') return false
    if (transition(request.event, request.left).state !== seat.announce.state) return false
    const since = clock.now() - seat.announcedAt
    return since >= 0 && since < options.tooSoonMs
  }

  return {
    announce: (session, message) => {
      const { request, infoHashJson, peerIdText } = message
      const known = session.seats.get(infoHashJson)
      if (known !== undefined && known.peerIdText !== peerIdText) {
        refuse(session, 'announce', infoHashJson, refusals.refuse('announce', 'several_peer_ids'))
        return undefined
      }
      if (known === undefined && session.seats.size >= options.maxTorrents) {
        refuse(session, 'announce', infoHashJson, refusals.refuse('announce', 'too_many_torrents'))
        return undefined
      }
      const seat = known ?? newSeat(session, { ...request, infoHashJson, peerIdText })
      if (seat.peer !== undefined && isTooSoon(seat, message)) {
        const { interval, minInterval } = announces.repeat(request)
        answer(seat, interval, minInterval, undefined)
        introductions.pass(seat, seat.peer, message.offers)
        return undefined
      }
      session.seats.set(infoHashJson, seat)
      const start = (): Promise<void> | undefined => {
        // An announce that waited its turn may find that the one before it ended the peer.
        if (!session.closed) session.seats.set(infoHashJson, seat)
        // Of a client that is gone, only what it says once is still worth telling.
        else if (request.event !== 'stopped' && request.event !== 'completed') return undefined
        return carryOut(seat, message)
      }
      const started = seat.running === undefined ? start() : seat.running.then(start)
      if (started === undefined) return undefined
      running.add(seat)
      const turn: Promise<void> = started.then(() => {
        if (seat.running !== turn) return
        seat.running = undefined
        running.delete(seat)
      })
      seat.running = turn
      return turn
    },

    underWay: (infoHash) => [...running].filter((seat) => seat.infoHash === infoHash),
  }
}

/** What is done with an announce between the rules and the swarm. */
type TurnRules = {
  /** Whether the connection may have this client. */
  claim(turn: Turn, peer: PeerAnnounce): boolean | Promise<boolean>
  /** Passes offers on that need not wait for the swarm. */
  checked(turn: Turn, peer: PeerAnnounce): void
}

/** One announce, from its turn until it is answered. A class, since thousands may wait for Redis at once. */
class Turn implements SocketRequest {
  readonly seat: Seat
  readonly request: AnnounceRequest
  readonly offers: readonly Offer[]
  /** What was claimed. */
  client: ClientName | undefined = undefined
  peer: PeerAnnounce | undefined = undefined
  passed: Passed | undefined = undefined
  private readonly rules: TurnRules

  constructor(seat: Seat, request: AnnounceRequest, offers: readonly Offer[], rules: TurnRules) {
    this.seat = seat
    this.request = request
    this.offers = offers
    this.rules = rules
  }

  get passkey(): Passkey | undefined {
    return this.seat.session.passkey
  }

  get address(): Uint8Array {
    return this.seat.session.address
  }

  owner(): Buffer {
    return ownerOf(this.seat.session)
  }

  claim(peer: PeerAnnounce): boolean | Promise<boolean> {
    return this.rules.claim(this, peer)
  }

  checked(peer: PeerAnnounce): void {
    this.rules.checked(this, peer)
  }
}

function vacate(seat: Seat): void {
  const { seats } = seat.session
  if (seats.get(seat.infoHashJson) === seat) seats.delete(seat.infoHashJson)
}

/** Seeders send `completed` before they start; a completion that the swarm could not be told is told later. */
function eventOf(seat: Seat, { event, left }: AnnounceRequest): AnnounceEvent {
  if (event === 'completed') return seat.wasIncomplete ? event : 'started'
  return event === 'none' && left === 0 && seat.owesCompletion ? 'completed' : event
}
