import type { AnnounceRequest, TrackerAction } from '@vault-and-tracker/bencode-tracker'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { transition } from '../swarm/peer-state.ts'
import type { PeerAnnounce, ProcessId } from '../swarm/swarm.ts'
import { type AnnouncingClients, type ClientName, clientName } from './announcing-clients.ts'
import type { OfferRelay } from './offer-relay.ts'
import type { PeerRemoval } from './peer-removal.ts'
import { type AnnounceHooks, eventOf, QueuedAnnounce } from './queued-announce.ts'
import type { Refusal, Refusals } from './refusal.ts'
import type { Signalling } from './signalling.ts'
import type { SocketAnnounces, SocketOutcome, SocketReply } from './socket-announces.ts'
import type { AnnounceMessage } from './socket-messages.ts'
import { announceMessage } from './socket-replies.ts'
import { newSocketPeer, type Session, type SocketPeer } from './socket-session.ts'

/** The announces over the connections of one process. Those of one torrent on one connection are carried out in order. */
export type SocketAnnounceQueue = {
  /**
   * Carries an announce out, answers it and relays its offers.
   *
   * @returns settles when it is answered; undefined where it is already
   */
  announce(session: Session, message: AnnounceMessage): Promise<void> | undefined
  /** The peers of a torrent whose announce is not answered yet. */
  peersUnderWay(infoHash: string): readonly SocketPeer[]
}

/** RFC 6455 section 7.4.1. */
export const POLICY_VIOLATION = 1008
/** Failures after which the peer stays in the swarm, since its next announce may succeed. */
const TRANSIENT: ReadonlySet<string> = new Set(['tracker_unavailable', 'internal_error', 'announce_limit'])

/** Creates the queue; `refuse` answers with a refusal, and `end` closes a connection. */
export function createSocketAnnounceQueue(options: {
  maxTorrents: number
  /** Milliseconds within which a further announce is too soon to be told to the swarm. */
  tooSoonMs: number
  announces: SocketAnnounces
  announcing: AnnouncingClients
  peerRemoval: PeerRemoval
  offerRelay: OfferRelay
  signalling: Signalling<SocketPeer>
  refusals: Refusals
  refuse: (session: Session, action: TrackerAction, infoHashJson: string, refusal: Refusal) => void
  end: (session: Session, code: number, reason: string) => Promise<void>
  clock: Clock
}): SocketAnnounceQueue {
  const { announces, announcing, peerRemoval, offerRelay, signalling, refusals, refuse, end, clock } = options

  const answer = (socketPeer: SocketPeer, interval: number, minInterval: number, warning: string | undefined): void => {
    const { session, infoHashJson, complete, incomplete, downloaded } = socketPeer
    session.wasServed = true
    session.connection.sendText(
      announceMessage({ infoHashJson, complete, incomplete, downloaded, interval, minInterval, warning }),
    )
  }

  const underWay = new Set<SocketPeer>()

  /** Refuses a client that another connection has, while that connection answers a ping . */
  const claim = (socketPeer: SocketPeer, client: ClientName): boolean | Promise<boolean> => {
    const known = signalling.find(client.swarm, client.owner, client.peerId)?.socket
    const holder = announcing.holderOf(client) ?? known
    if (holder !== undefined && holder.session !== socketPeer.session && !holder.session.closed)
      return endUnlessAlive(holder.session).then((ended) => ended && claim(socketPeer, client))
    announcing.begin(client, socketPeer)
    return true
  }

  const hooks: AnnounceHooks = {
    claim: (queued, peer) => {
      const client = clientName(peer, queued.socketPeer.peerIdText)
      queued.client = client
      queued.peer = peer
      return claim(queued.socketPeer, client)
    },
    // The offers of a peer that is in the swarm need not wait for Redis.
    checked: (queued, { state }) => {
      const { socketPeer } = queued
      if (socketPeer.signalPeer === undefined || state === 'stopped') return
      const { serial, swarm, owner, peerId, socket } = socketPeer.signalPeer
      const peer = { serial, swarm, owner, peerId, socket, seeds: state !== 'leecher' }
      queued.relayed ??= offerRelay.relayOffers(socketPeer, peer, queued.offers)
    },
  }

  const endUnlessAlive = async (session: Session): Promise<boolean> => {
    if (await session.connection.isAlive()) return false
    await end(session, POLICY_VIOLATION, 'Ping timeout')
    return true
  }

  const refuseAnnounce = async (
    socketPeer: SocketPeer,
    { event }: AnnounceRequest,
    refusal: Refusal,
  ): Promise<void> => {
    const isTransient = TRANSIENT.has(refusal.failure)
    // Clients send `stopped` and `completed` once.
    if (event === 'stopped' || !isTransient) await peerRemoval.remove(socketPeer)
    if (event === 'completed' && isTransient) socketPeer.completionPending = true
    if (socketPeer.signalPeer === undefined) forgetPeer(socketPeer)
    refuse(socketPeer.session, 'announce', socketPeer.infoHashJson, refusal)
  }

  const release = (queued: QueuedAnnounce): void => {
    if (queued.client !== undefined) announcing.end(queued.client, queued.socketPeer)
  }

  const fail = async (queued: QueuedAnnounce, error: unknown): Promise<void> => {
    const { socketPeer, peer } = queued
    await refuseAnnounce(socketPeer, queued.request, refusals.refuseError('announce', error))
    // Redis may have carried it out all the same.
    if (peer !== undefined && socketPeer.signalPeer === undefined) peerRemoval.retryLater(peer)
    release(queued)
  }

  /** Answers an announce when the swarm has answered. */
  const finish = (queued: QueuedAnnounce, outcome: SocketOutcome): Promise<void> | undefined => {
    const { socketPeer, request, offers } = queued
    if (outcome.failure !== undefined) return refuseAnnounce(socketPeer, request, outcome).then(() => release(queued))
    if (outcome.holder === undefined) {
      socketPeer.wasIncomplete ||= request.left > 0 && outcome.joined
      if (request.event === 'completed') socketPeer.completionPending = false
      if (update(socketPeer, outcome, queued.client)) {
        answer(socketPeer, outcome.interval, outcome.minInterval, outcome.warning)
        if (socketPeer.signalPeer !== undefined && queued.relayed !== undefined)
          offerRelay.relayRemaining(socketPeer, socketPeer.signalPeer, queued.relayed)
        else if (socketPeer.signalPeer !== undefined) offerRelay.relayOffers(socketPeer, socketPeer.signalPeer, offers)
      }
    }
    release(queued)
    return undefined
  }

  /** Another process has noted this client: it is asked whether its connection still lives. */
  const takeOver = async (queued: QueuedAnnounce, holder: ProcessId, peer: PeerAnnounce): Promise<void> => {
    const alive = await offerRelay.probe(holder.toString('hex'), peer)
    const outcome = alive ? refusals.refuse('announce', 'peer_id_in_use') : await announces.announce(queued, true)
    await finish(queued, outcome)
  }

  const settle = (queued: QueuedAnnounce, outcome: SocketOutcome): Promise<void> | undefined => {
    try {
      const isHeld = outcome.failure === undefined && outcome.holder !== undefined
      if (!isHeld) return finish(queued, outcome)
      return takeOver(queued, outcome.holder, outcome.peer).catch((error: unknown) => fail(queued, error))
    } catch (error) {
      return fail(queued, error)
    }
  }

  const carryOut = (socketPeer: SocketPeer, message: AnnounceMessage): Promise<void> | undefined => {
    const event = eventOf(socketPeer, message.request)
    const request = event === message.request.event ? message.request : { ...message.request, event }
    const queued = new QueuedAnnounce(socketPeer, request, message.offers, hooks)
    try {
      const outcome = announces.announce(queued, false)
      if (!(outcome instanceof Promise)) return settle(queued, outcome)
      return outcome.then(
        (each) => settle(queued, each),
        (error: unknown) => fail(queued, error),
      )
    } catch (error) {
      return fail(queued, error)
    }
  }

  /** Takes the outcome of an announce over; returns false where the connection or the torrent is gone, so nobody is answered. */
  const update = (
    socketPeer: SocketPeer,
    reply: SocketReply,
    client = clientName(reply.peer, socketPeer.peerIdText),
  ): boolean => {
    const { session } = socketPeer
    const { complete, incomplete, downloaded, otherProcesses, peer } = reply
    socketPeer.complete = complete
    socketPeer.incomplete = incomplete
    socketPeer.downloaded = downloaded
    socketPeer.otherProcesses = otherProcesses
    socketPeer.announcedAt = clock.now()
    if (!reply.joined) {
      const { signalPeer } = socketPeer
      if (signalPeer !== undefined && signalling.bySerial(signalPeer.serial)?.socket === socketPeer)
        signalling.leave(signalPeer)
      socketPeer.signalPeer = undefined
      forgetPeer(socketPeer)
      return true
    }
    // The socket closed while the announce was under way, or the torrent was removed.
    const isWanted = !session.closed && session.peers.get(socketPeer.infoHashJson) === socketPeer
    const holder = announcing.holderOf(client)
    if (!isWanted && holder !== undefined && holder !== socketPeer) return false
    socketPeer.announce = peer
    socketPeer.signalPeer = signalling.join({
      swarm: client.swarm,
      owner: client.owner,
      peerId: client.peerId,
      socket: socketPeer,
      seeds: peer.state !== 'leecher',
    })
    if (!isWanted) void peerRemoval.remove(socketPeer)
    return isWanted
  }

  const isTooSoon = (socketPeer: SocketPeer, { request }: AnnounceMessage): boolean => {
    if (socketPeer.announce === undefined || socketPeer.signalPeer === undefined || socketPeer.running !== undefined)
      return false
    if (request.event === 'stopped' || request.event === 'completed') return false
    if (transition(request.event, request.left).state !== socketPeer.announce.state) return false
    const since = clock.now() - socketPeer.announcedAt
    return since >= 0 && since < options.tooSoonMs
  }

  return {
    announce: (session, message) => {
      const { request, infoHashJson, peerIdText } = message
      const known = session.peers.get(infoHashJson)
      if (known !== undefined && known.peerIdText !== peerIdText) {
        refuse(session, 'announce', infoHashJson, refusals.refuse('announce', 'several_peer_ids'))
        return undefined
      }
      if (known === undefined && session.peers.size >= options.maxTorrents) {
        refuse(session, 'announce', infoHashJson, refusals.refuse('announce', 'too_many_torrents'))
        return undefined
      }
      const socketPeer = known ?? newSocketPeer(session, { ...request, infoHashJson, peerIdText })
      if (socketPeer.signalPeer !== undefined && isTooSoon(socketPeer, message)) {
        const { interval, minInterval } = announces.repeat(request)
        answer(socketPeer, interval, minInterval, undefined)
        offerRelay.relayOffers(socketPeer, socketPeer.signalPeer, message.offers)
        return undefined
      }
      session.peers.set(infoHashJson, socketPeer)
      const start = (): Promise<void> | undefined => {
        // While this announce waited, the one before it may have removed the peer.
        if (!session.closed) session.peers.set(infoHashJson, socketPeer)
        // Of a closed connection, only events that a client sends once are still carried out.
        else if (request.event !== 'stopped' && request.event !== 'completed') return undefined
        return carryOut(socketPeer, message)
      }
      const started = socketPeer.running === undefined ? start() : socketPeer.running.then(start)
      if (started === undefined) return undefined
      underWay.add(socketPeer)
      const answered: Promise<void> = started.then(() => {
        if (socketPeer.running !== answered) return
        socketPeer.running = undefined
        underWay.delete(socketPeer)
      })
      socketPeer.running = answered
      return answered
    },

    peersUnderWay: (infoHash) => [...underWay].filter((socketPeer) => socketPeer.infoHash === infoHash),
  }
}

function forgetPeer(socketPeer: SocketPeer): void {
  const { peers } = socketPeer.session
  if (peers.get(socketPeer.infoHashJson) === socketPeer) peers.delete(socketPeer.infoHashJson)
}
