import type { AnnounceEvent } from '@vault-and-tracker/bencode-tracker'

/** The role of a peer. A paused peer is a partial seed (BEP 21): incomplete, but not downloading. */
export type PeerState = 'stopped' | 'leecher' | 'seeder' | 'paused'

/** The kind of announce, as far as it matters to the swarm. Being paused is part of the state. */
export type AnnounceKind = 'regular' | 'started' | 'completed' | 'stopped'

/**
 * The role of a peer after an announce (BEP 3, 21). Only `left` decides who is a seeder: a client that completed the
 * files it wants sends `completed`, or `paused`, with something left.
 *
 * @param left bytes that the client still needs
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
