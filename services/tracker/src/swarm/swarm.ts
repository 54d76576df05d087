import type { PeerId } from '@vault-and-tracker/bencode-tracker'
import type { AnnounceKind, PeerState } from './peer-state.ts'

/** A swarm's name: the 20 bytes of its torrent's info hash; of a hybrid, the first of its two (BEP 52). */
export type SwarmName = Buffer

/** One announce, after every rule about user, torrent and client has been applied. */
export type PeerAnnounce = {
  readonly swarm: SwarmName
  /** Who the peer belongs to, 8 bytes. Peers of one owner are not introduced to each other. */
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
  /** How many peers the database knew of last. When the swarm has fewer, Redis may have lost the others. */
  readonly expectedPeers: number
  /** Whose account is credited, and how; `undefined` where nothing is accounted. */
  readonly account: PeerAccount | undefined
}

export type PeerAccount = {
  /** The 16 bytes of the user's id. */
  readonly user: Buffer
  /** The 16 bytes of the torrent's id. */
  readonly torrent: Buffer
  /** How much of what was transferred is credited, in per cent. */
  readonly uploadPercent: number
  readonly downloadPercent: number
}

/** How an announce ended. All but `accepted` get no peers. `held`: another process has a socket of this client. */
export type AnnounceStatus = 'accepted' | 'stopped_unknown_peer' | 'announce_too_soon' | 'slots_full' | 'held'

/** Peers that were picked: more than wanted, since some may have to be left out. */
export type PickedPeers = {
  readonly count: number
  /** 6 bytes each, zeros for one that has no IPv4 address to be handed out. */
  readonly ipv4: Buffer
  /** 18 bytes each, likewise; undefined where no peer of the swarm has one. */
  readonly ipv6: Buffer | undefined
  /** 20 bytes each, where they were asked for. */
  readonly peerIds: Buffer | undefined
  /** Which of them is the announcing peer, and which are others of its owner. */
  readonly own: number
  readonly siblings: readonly number[]
}

export const NO_PEERS: PickedPeers = {
  count: 0,
  ipv4: Buffer.alloc(0),
  ipv6: undefined,
  peerIds: undefined,
  own: 0,
  siblings: [],
}

/** The swarm's answer to an announce. */
export type SwarmAnswer = {
  readonly status: AnnounceStatus
  /** The peer continues a session that the swarm does not know, as when Redis has lost the swarm. */
  readonly rejoined: boolean
  /** The counters rose faster than `SwarmSettings.maxBytesPerSecond`, so nothing was credited. */
  readonly implausible: boolean
  /** The peer gets the recovery interval, with this answer or with the earlier one that it is too soon after. */
  readonly recovering: boolean
  /** Another machine uses this peer id with higher counters; this announce was ignored. */
  readonly elsewhere: boolean
  readonly complete: number
  readonly incomplete: number
  readonly completed: number
  /** The second since the epoch of this peer's previous announce; 0 when there was none. */
  readonly lastAnnounce: number
  /** Over HTTP. */
  readonly picked: PickedPeers
  /** Over a socket, by process; partial seeds count as seeders, since they too are given leechers only. */
  readonly sockets: readonly SocketCount[]
  /** The process that has the client's socket, if the announce was not carried out because of it. */
  readonly holder: ProcessId | undefined
  /** The second since the epoch at which the announce was carried out. */
  readonly now: number
}

/** The counts of one swarm. */
export type SwarmCounts = {
  readonly complete: number
  readonly incomplete: number
  /** Of the incomplete, those that do not download (BEP 21). */
  readonly paused: number
  readonly completed: number
}

/** Eight bytes that name a process of the tracker for as long as it runs. */
export type ProcessId = Buffer

/** How an announce over a socket differs from one over HTTP. */
export type SocketAnnounce = {
  /** The process that has the socket. */
  readonly process: ProcessId
  /**
   * `takes-over` continues a peer whose socket another process has noted, and that process has lost. `closes` ends a peer
   * whose socket is gone, without its counters: they are kept, as those of an expired peer.
   */
  readonly purpose: 'announces' | 'takes-over' | 'closes'
}

/** How many peers of a swarm have a socket of one process. */
export type SocketCount = { readonly process: ProcessId; readonly seeders: number; readonly others: number }

/** An announce for the swarm, which calls one of its methods once. */
export type SwarmRequest = {
  readonly peer: PeerAnnounce
  /** How it differs over a socket; undefined over HTTP. */
  readonly socket: SocketAnnounce | undefined
  answered(answer: SwarmAnswer): void
  /** @param error what `isUnavailable` recognises when the announce could not be carried out */
  failed(error: unknown): void
}

/** A scrape of one swarm, which calls one of its methods once. */
export type SwarmScrape = {
  readonly peer: undefined
  readonly name: SwarmName
  /** How many completions the database knows of. */
  readonly completed: number
  answered(counts: SwarmCounts): void
  /** @param error what `isUnavailable` recognises when they could not be counted */
  failed(error: unknown): void
}

/** What one user did with one torrent since the last flush. */
export type Delta = {
  readonly userId: string
  readonly torrentId: string
  /** Bytes with the multipliers applied. */
  readonly creditedUp: number
  readonly creditedDown: number
  /** Bytes as the clients counted them. */
  readonly actualUp: number
  readonly actualDown: number
  readonly seedSeconds: number
  /** Bytes. */
  readonly left: number
  readonly state: PeerState
  /** Seconds since the epoch. */
  readonly firstSeen: number
  readonly lastSeen: number
  /** Something was left in one of the announces. */
  readonly leeched: boolean
  /** They completed the torrent after such an announce. */
  readonly snatched: boolean
  /** When a client said it completed the torrent, if one did: whether something was left before or not. */
  readonly completedAt: number | undefined
}

/** What all swarms have in common. All times in seconds. */
export type SwarmSettings = {
  /** How long a peer is kept after its last announce. */
  readonly timeToLive: number
  /** Regular announces closer to each other are too soon. */
  readonly minInterval: number
  /** The same announce again within this time is a client's repetition: answered in full, credited once. */
  readonly repeatWindow: number
  /** What `minInterval` is after an answer with the recovery interval. */
  readonly recoveryInterval: number
  /** How many peers of one owner a swarm takes. */
  readonly maxPeersPerOwner: number
  /** Whether an owner's next peer replaces the one of theirs with the oldest announce. */
  readonly evictsOldest: boolean
  /** How long counters of expired peers are kept; 0 keeps none. */
  readonly keepCountersFor: number
  /** Counters that rise faster are not credited. */
  readonly maxBytesPerSecond: number
}

/** Every swarm there is. */
export type Swarms = {
  /**
   * Carries out one announce as one atomic step. The same client over HTTP and over a socket is one peer, whose record stays
   * until it is stopped, or its socket closed, over both. Peers that have a socket only are counted and never picked: the
   * process that has the socket knows them.
   */
  announce(request: SwarmRequest): void
  /**
   * Ends all sockets that a process has left behind: their peers expire.
   *
   * @throws what `isUnavailable` recognises when it could not be finished
   */
  evict(process: ProcessId): Promise<void>
  /**
   * Counts peers, in the order of the names. A swarm without peers has zeros, and the completions given.
   *
   * @throws what `isUnavailable` recognises when they could not be read
   */
  count(swarms: readonly { readonly name: SwarmName; readonly completed: number }[]): Promise<readonly SwarmCounts[]>
  /**
   * Removes expired peers of swarms without announces. Where Redis is full then, and nothing waits to be
   * written to the database, the counters of those who have been away longest are dropped too.
   *
   * @returns for how many parts of the swarms counters were dropped
   * @throws what `isUnavailable` recognises when it could not be finished
   */
  sweep(): Promise<number>
  /**
   * Ends the peers of an owner that announce over HTTP. Their counters are kept, as those of an expired peer.
   *
   * @throws what `isUnavailable` recognises when it could not be finished
   */
  expel(owner: Buffer, swarms: readonly SwarmName[]): Promise<void>
  /** @throws what `isUnavailable` recognises while announces would fail, as when Redis is full */
  check(): Promise<void>
  /** Whether announces fail because Redis is full. @throws what `isUnavailable` recognises when they fail for another reason */
  isFull(): Promise<boolean>
}

/**
 * Carries out one announce for a caller that waits.
 *
 * @throws what `isUnavailable` recognises when it could not be carried out
 */
export function announced(
  swarms: Pick<Swarms, 'announce'>,
  peer: PeerAnnounce,
  socket?: SocketAnnounce,
): Promise<SwarmAnswer> {
  return new Promise((answered, failed) => swarms.announce({ peer, socket, answered, failed }))
}
