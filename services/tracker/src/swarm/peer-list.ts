import type { PeerId } from '@vault-and-tracker/bencode-tracker'
import type { SwarmName } from './swarm.ts'

/** An endpoint: 4 or 16 address bytes, and the port. */
export type Endpoint = { readonly address: Buffer; readonly port: number }

/** A peer as it is stored. */
export type ListedPeer = {
  /** Who the peer belongs to, 8 bytes. */
  readonly owner: Buffer
  readonly peerId: PeerId
  readonly state: 'seeder' | 'leecher' | 'paused'
  /** None of a peer that is reached through a socket only. */
  readonly endpoints: readonly Endpoint[]
  /** Bytes, as the client counts them since it was started. */
  readonly uploaded: number
  readonly downloaded: number
  /** Seconds since the epoch. */
  readonly lastAnnounce: number
}

/** The peers of one swarm, for staff. */
export type PeerList = {
  /**
   * A part of the peers: seeders first, then the others, then those with a socket only. It reads only that part, so it
   * costs the same in every swarm.
   *
   * @param first which peer to begin with, from 0
   * @returns those of them that have not expired, and how many places there are, among them a few of peers that have expired
   * @throws what `isUnavailable` recognises when they could not be read
   */
  read(name: SwarmName, first: number, count: number): Promise<{ peers: readonly ListedPeer[]; places: number }>
}
