import type { PeerAnnounce } from '../swarm/swarm.ts'
import type { Seat } from './socket-session.ts'

/**
 * Which connection a client's announce under way belongs to. The swarm knows processes only, so it cannot tell two
 * connections of one process apart.
 */
export type Claims = {
  /** The last one to announce this client, until its announce has ended. */
  holder(client: ClientName): Seat | undefined
  take(client: ClientName, seat: Seat): void
  /** Ends the claim of a connection, unless another one has taken the client over. */
  release(client: ClientName, seat: Seat): void
}

/** A client in a swarm, as strings of one character for each byte; `key` is all three in one. */
export type ClientName = {
  readonly swarm: string
  readonly owner: string
  readonly peerId: string
  readonly key: string
}

/** Names the client of an announce; `peerId` is that of the announce, one character for each byte. */
export function clientName(announce: PeerAnnounce, peerId: string): ClientName {
  const swarm = announce.swarm.toString('latin1')
  const owner = announce.owner.toString('latin1')
  return { swarm, owner, peerId, key: swarm + owner + peerId }
}

/** Creates them. */
export function createClaims(): Claims {
  const seats = new Map<string, Seat>()
  return {
    holder: ({ key }) => seats.get(key),
    take: ({ key }, seat) => {
      seats.set(key, seat)
    },
    release: ({ key }, seat) => {
      if (seats.get(key) === seat) seats.delete(key)
    },
  }
}
