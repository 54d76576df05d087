import type { AnnounceEvent } from '@vault-and-tracker/bencode-tracker'

/** What a peer is to the others. A paused peer is a partial seed (BEP 21): incomplete, but it downloads nothing. */
export type PeerState = 'stopped' | 'leecher' | 'seeder' | 'paused'

/** Why a peer announces, as far as the swarm cares: `paused` is told by the state. */
export type AnnounceKind = 'regular' | 'started' | 'completed' | 'stopped'

/**
 * What a peer is after an announce. Only what is left decides who is a seeder: a client that completed the files it
 * wants sends `completed`, or `paused`, with something left.
 *
 * @param left bytes the client says it still needs
 */
export function transition(event: AnnounceEvent, left: number): { kind: AnnounceKind; state: PeerState } {
  switch (event) {
    case 'stopped':
      return { kind: 'stopped', state: 'stopped' }
    case 'paused':
      return { kind: 'regular', state: left === 0 ? 'seeder' : 'paused' }
    case 'none':
      return { kind: 'regular', state: left === 0 ? 'seeder' : 'leecher' }
    case 'started':
    case 'completed':
      return { kind: event, state: left === 0 ? 'seeder' : 'leecher' }
  }
}
