import type { PeerId } from '@vault-and-tracker/bencode-tracker'
import type { AnnounceKind, PeerState } from './peer-state.ts'

/** A swarm, named by the 20 bytes of its torrent's info hash; of a hybrid, by the first of its two. */
export type SwarmName = Buffer

/** One announce, after every rule about user, torrent and client has been applied. */
export type PeerAnnounce = {
  readonly swarm: SwarmName
  /** Who the peer belongs to, 8 bytes: peers of one owner are not introduced to each other. */
  readonly owner: Buffer
  readonly peerId: PeerId
  /** 4 address bytes and 2 of the port; `undefined` when not announced, zeros when it must not be handed out. */
  readonly ipv4: Uint8Array | undefined
  /** 16 address bytes and 2 of the port, likewise. */
  readonly ipv6: Uint8Array | undefined
  readonly kind: AnnounceKind
  readonly state: PeerState
  /** Bytes, as the client counts them. */
  readonly uploaded: number
  readonly downloaded: number
  readonly left: number
  /** How many peers to pick, and whether their peer ids are needed. */
  readonly want: number
  readonly withPeerIds: boolean
  /** How many completions the database knows of. */
  readonly completed: number
  /** How many peers the database knew of last: when there are fewer, Redis may have lost the others. */
  readonly expected: number
  /** Whose account is credited, and how; `undefined` where nothing is accounted. */
  readonly account: PeerAccount | undefined
}

export type PeerAccount = {
  /** The 16 bytes of the user's id, then those of the torrent's. */
  readonly id: Buffer
  /** How much of what was moved is credited, in per cent. */
  readonly uploadPercent: number
  readonly downloadPercent: number
}

/** How an announce ended. All but `accepted` get no peers. */
export type AnnounceStatus = 'accepted' | 'stopped_unknown_peer' | 'announce_too_soon' | 'slots_full'

/** What the swarm answers. */
export type SwarmAnswer = {
  readonly status: AnnounceStatus
  /** The peer says it was there before, and like others it is not: the swarm is filling up again. */
  readonly rejoined: boolean
  /** The counters rose faster than any line carries, so nothing was credited. */
  readonly implausible: boolean
  /** The peer is asked to come back early, by this answer or by the one that it is too soon for. */
  readonly hurried: boolean
  readonly complete: number
  readonly incomplete: number
  readonly completed: number
  /** The second since the epoch of this peer's previous announce; 0 when there was none. */
  readonly lastAnnounce: number
  /** Bytes that `selectPeers` cuts; more peers than wanted, since some of them may have to be left out. */
  readonly records: Buffer
  readonly recordCount: number
}

/** The counts of one swarm. */
export type SwarmCounts = {
  readonly complete: number
  readonly incomplete: number
  /** Of the incomplete, those that do not download (BEP 21). */
  readonly paused: number
  readonly completed: number
}

/** What every swarm has in common. All times in seconds. */
export type SwarmTerms = {
  /** How long a peer lives after its last announce. */
  readonly timeToLive: number
  /** Announces closer to each other are too soon. */
  readonly minInterval: number
  /** Announces this close to each other are the client's repetition of one. */
  readonly repeatWindow: number
  /** The same after an answer that asked to come back early. */
  readonly hurriedInterval: number
  /** How many peers of one owner a swarm takes. */
  readonly slots: number
  /** Whether the longest silent peer of an owner makes room for his next one. */
  readonly evicts: boolean
  /** How long counters of peers that fell silent are kept; 0 keeps none. */
  readonly keepCounters: number
  /** Bytes per second above which counters are not believed. */
  readonly fastest: number
}

/** Every swarm there is. */
export type Swarms = {
  /**
   * Carries out one announce as one atomic step.
   *
   * @throws UnavailableError when it could not be carried out
   */
  announce(announce: PeerAnnounce): Promise<SwarmAnswer>
  /**
   * Counts peers, in the order of the names. A swarm without peers has zeros, and the completions given.
   *
   * @throws UnavailableError when they could not be read
   */
  count(swarms: readonly { readonly name: SwarmName; readonly completed: number }[]): Promise<readonly SwarmCounts[]>
  /** Removes peers that expired in swarms where nobody announces any more. */
  sweep(): Promise<void>
}
