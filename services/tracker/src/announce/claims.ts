import type { PeerAnnounce } from '../swarm/swarm.ts'
import type { Seat } from './socket-session.ts'

/**
 * Which connection a client's announce under way belongs to. The swarm knows processes only, so it cannot tell two
 * connections of one process apart.
 */
export type Claims = {
  /** The last one to announce this client, until its announce has ended. */
  holder(peer: PeerAnnounce): Seat | undefined
  take(peer: PeerAnnounce, seat: Seat): void
  /** Ends the claim of a connection, unless another one has taken the client over. */
  release(peer: PeerAnnounce, seat: Seat): void
}

/** Creates them. */
export function createClaims(): Claims {
  const seats = new Map<string, Seat>()
  const nameOf = ({ swarm, owner, peerId }: PeerAnnounce): string =>
    swarm.toString('latin1') + owner.toString('latin1') + peerId
  return {
    holder: (peer) => seats.get(nameOf(peer)),
    take: (peer, seat) => {
      seats.set(nameOf(peer), seat)
    },
    release: (peer, seat) => {
      const name = nameOf(peer)
      if (seats.get(name) === seat) seats.delete(name)
    },
  }
}
