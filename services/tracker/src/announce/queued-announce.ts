import type { AnnounceEvent, AnnounceRequest, Passkey } from '@vault-and-tracker/bencode-tracker'
import type { PeerAnnounce } from '../swarm/swarm.ts'
import type { ClientName } from './announcing-clients.ts'
import type { RelayedOffers } from './offer-relay.ts'
import type { Offer } from './signalling.ts'
import type { SocketRequest } from './socket-announces.ts'
import { ownerOf, type SocketPeer } from './socket-session.ts'

/** What is done between checking an announce and telling the swarm. */
export type AnnounceHooks = {
  /** Whether the connection may have this client. */
  claim(queued: QueuedAnnounce, peer: PeerAnnounce): boolean | Promise<boolean>
  /** Relays the offers that need not wait for the swarm. */
  checked(queued: QueuedAnnounce, peer: PeerAnnounce): void
}

/** One announce that is under way. A class, since thousands may wait for Redis at once: methods are shared. */
export class QueuedAnnounce implements SocketRequest {
  readonly socketPeer: SocketPeer
  readonly request: AnnounceRequest
  readonly offers: readonly Offer[]
  /** The client and its announce, once it is claimed. */
  client: ClientName | undefined = undefined
  peer: PeerAnnounce | undefined = undefined
  relayed: RelayedOffers | undefined = undefined
  private readonly hooks: AnnounceHooks

  constructor(socketPeer: SocketPeer, request: AnnounceRequest, offers: readonly Offer[], hooks: AnnounceHooks) {
    this.socketPeer = socketPeer
    this.request = request
    this.offers = offers
    this.hooks = hooks
  }

  get passkey(): Passkey | undefined {
    return this.socketPeer.session.passkey
  }

  get address(): Uint8Array {
    return this.socketPeer.session.address
  }

  owner(): Buffer {
    return ownerOf(this.socketPeer.session)
  }

  claim(peer: PeerAnnounce): boolean | Promise<boolean> {
    return this.hooks.claim(this, peer)
  }

  checked(peer: PeerAnnounce): void {
    this.hooks.checked(this, peer)
  }
}

/**
 * The event that the swarm is told: seeders send `completed` before `started`, and a completion that the swarm could not
 * be told is told with a later announce.
 */
export function eventOf(socketPeer: SocketPeer, { event, left }: AnnounceRequest): AnnounceEvent {
  if (event === 'completed') return socketPeer.wasIncomplete ? event : 'started'
  return event === 'none' && left === 0 && socketPeer.completionPending ? 'completed' : event
}
