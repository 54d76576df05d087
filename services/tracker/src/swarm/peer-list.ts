import type { PeerId } from '@vault-and-tracker/bencode-tracker'
import type { SwarmName } from './swarm.ts'

/** An endpoint: 4 or 16 bytes of address, and the port. */
export type Endpoint = { readonly address: Buffer; readonly port: number }

/** A stored peer. */
export type ListedPeer = {
  /** The owner of the peer, 8 bytes. */
  readonly owner: Buffer
  readonly peerId: PeerId
  readonly state: 'seeder' | 'leecher' | 'paused'
  /** Undefined for a peer that is reachable only through a socket. */
  readonly endpoints: readonly Endpoint[]
  /** In bytes, as reported by the client since it started. */
  readonly uploaded: number
  readonly downloaded: number
  /** Seconds since the epoch. */
  readonly lastAnnounce: number
}

/** The peers of a swarm, for staff. */
export type PeerList = {
  /**
   * Reads a page of peers: seeders first, then other peers, then those with only a socket. The cost depends on the page,
   * not on the swarm.
   *
   * @param first index of the first peer, from 0
   * @returns the peers that have not expired, and the total, which may include a few that have
   * @throws an error that `isUnavailable` recognises if Redis is unavailable
   */
  read(name: SwarmName, first: number, count: number): Promise<{ peers: readonly ListedPeer[]; places: number }>
}
