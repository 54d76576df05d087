import type { PeerId } from '@vault-and-tracker/bencode-tracker'
import type { AnnounceKind, PeerState } from './peer-state.ts'

/** The name of a swarm: the 20 bytes of its torrent's info hash, the v1 hash for a hybrid torrent (BEP 52). */
export type SwarmName = Buffer

/**
 * What happens to an announce over the limit: it is refused (`none`), or carried out without peers if its client is in
 * the swarm and announces regularly (`known`), or if its client is new (`all`).
 */
export type Admission = 'none' | 'known' | 'all'

/** An announce that passed every rule about user, torrent and client. */
export type PeerAnnounce = {
  readonly swarm: SwarmName
  /** The owner of the peer, 8 bytes. Peers with the same owner are never sent to each other. */
  readonly owner: Buffer
  readonly peerId: PeerId
  /** 4 bytes of address and 2 of port; `undefined` if not announced, zeros if it must not be sent to others. */
  readonly ipv4: Uint8Array | undefined
  /** 16 bytes of address and 2 of port, likewise. */
  readonly ipv6: Uint8Array | undefined
  readonly kind: AnnounceKind
  readonly state: PeerState
  /** In bytes, as reported by the client. */
  readonly uploaded: number
  readonly downloaded: number
  readonly left: number
  /** The number of peers to pick, and whether their peer ids are needed. */
  readonly want: number
  readonly withPeerIds: boolean
  /** Completions recorded in the database. */
  readonly completed: number
  /** Peers at the last database update. If the swarm has fewer, Redis may have lost some. */
  readonly expectedPeers: number
  /** Undefined if the user is within the limit of announces. */
  readonly admits?: Admission | undefined
  /** The account to credit and its rates; `undefined` if transfers are not accounted. */
  readonly account: PeerAccount | undefined
}

export type PeerAccount = {
  /** The 16 bytes of the user's id. */
  readonly user: Buffer
  /** The 16 bytes of the torrent's id. */
  readonly torrent: Buffer
  /** The share of the transfer that is credited, in per cent. */
  readonly uploadPercent: number
  readonly downloadPercent: number
}

/**
 * The outcome of an announce. Only `accepted` returns peers. `held`: another process has a socket of this client.
 * `not_admitted`: it is over the limit of its user, and its client is unknown or announces too often.
 */
export type AnnounceStatus =
  | 'accepted'
  | 'stopped_unknown_peer'
  | 'announce_too_soon'
  | 'slots_full'
  | 'held'
  | 'not_admitted'

/** The peers that were picked: more than requested, because some may have to be skipped. */
export type PickedPeers = {
  readonly count: number
  /** 6 bytes each, zeros for a peer without a usable IPv4 address. */
  readonly ipv4: Buffer
  /** 18 bytes each, likewise; undefined if no peer of the swarm has an IPv6 address. */
  readonly ipv6: Buffer | undefined
  /** 20 bytes each, if requested. */
  readonly peerIds: Buffer | undefined
  /** The indexes of the announcing peer and of other peers of its owner. */
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

/** The result of an announce. */
export type SwarmAnswer = {
  readonly status: AnnounceStatus
  /** The peer continues a session that the swarm does not know, for example after Redis lost its data. */
  readonly rejoined: boolean
  /** The counters rose faster than `SwarmSettings.maxBytesPerSecond` and were not credited. */
  readonly implausible: boolean
  /** The peer gets the recovery interval, now or with the earlier reply that this announce follows too soon. */
  readonly recovering: boolean
  /** Another machine uses this peer id with higher counters; this announce was ignored. */
  readonly elsewhere: boolean
  readonly complete: number
  readonly incomplete: number
  readonly completed: number
  /** When this peer last announced, in seconds since the epoch; 0 if never. */
  readonly lastAnnounce: number
  /** Peers that announce over HTTP. */
  readonly picked: PickedPeers
  /** Peers with a socket, per process. Partial seeds count as seeders because they too receive only leechers. */
  readonly sockets: readonly SocketCount[]
  /** The process that has the client's socket, if the announce was rejected because of it. */
  readonly holder: ProcessId | undefined
  /** When the announce was carried out, in seconds since the epoch. */
  readonly now: number
}

/** The counts of a swarm. */
export type SwarmCounts = {
  readonly complete: number
  readonly incomplete: number
  /** The incomplete peers that do not download (BEP 21). */
  readonly paused: number
  readonly completed: number
}

/** Eight bytes that identify a running process of the tracker. */
export type ProcessId = Buffer

/** The differences of an announce over a socket from one over HTTP. */
export type SocketAnnounce = {
  /** The process that has the socket. */
  readonly process: ProcessId
  /**
   * `takes-over` continues a peer after its process lost the socket. `closes` ends a peer whose socket was
   * closed; its counters are kept, like those of an expired peer.
   */
  readonly purpose: 'announces' | 'takes-over' | 'closes'
}

/** The number of peers of a swarm with a socket, for one process. */
export type SocketCount = { readonly process: ProcessId; readonly seeders: number; readonly others: number }

/** An announce for the swarm. Exactly one of its methods is called, once. */
export type SwarmRequest = {
  readonly peer: PeerAnnounce
  /** Set for announces over a socket, undefined over HTTP. */
  readonly socket: SocketAnnounce | undefined
  answered(answer: SwarmAnswer): void
  /** @param error `isUnavailable` recognises it if Redis is unavailable */
  failed(error: unknown): void
}

/** A scrape of one swarm. Exactly one of its methods is called, once. */
export type SwarmScrape = {
  readonly peer: undefined
  readonly name: SwarmName
  /** Completions recorded in the database. */
  readonly completed: number
  answered(counts: SwarmCounts): void
  /** @param error `isUnavailable` recognises it if Redis is unavailable */
  failed(error: unknown): void
}

/** A user's activity on a torrent since the last flush. */
export type Delta = {
  readonly userId: string
  readonly torrentId: string
  /** In bytes, with the rates applied. */
  readonly creditedUp: number
  readonly creditedDown: number
  /** In bytes, as reported by the clients. */
  readonly actualUp: number
  readonly actualDown: number
  readonly seedSeconds: number
  /** In bytes. */
  readonly left: number
  readonly state: PeerState
  /** Seconds since the epoch. */
  readonly firstSeen: number
  readonly lastSeen: number
  /** At least one announce had something left to download. */
  readonly leeched: boolean
  /** The torrent was completed after such an announce. */
  readonly snatched: boolean
  /** When a client reported completion, if one did, whether or not anything was left before. */
  readonly completedAt: number | undefined
}

/** Settings shared by all swarms. Times are in seconds. */
export type SwarmSettings = {
  /** The lifetime of a peer after its last announce. */
  readonly timeToLive: number
  /** Regular announces must be at least this far apart. */
  readonly minInterval: number
  /** An identical announce within this time is a retry: it gets a full reply and is credited once. */
  readonly repeatWindow: number
  /** Replaces `minInterval` after a reply with the recovery interval. */
  readonly recoveryInterval: number
  /** The maximum number of peers per owner in a swarm. */
  readonly maxPeersPerOwner: number
  /** Whether a further peer replaces the owner's peer with the oldest announce. */
  readonly evictsOldest: boolean
  /** Seconds for which the counters of expired peers are kept; 0 to drop them. */
  readonly keepCountersFor: number
  /** Counters that rise faster than this are not credited. */
  readonly maxBytesPerSecond: number
}

/** All swarms of the tracker. */
export type Swarms = {
  /**
   * Carries out an announce atomically. A client that announces over HTTP and over a socket is one peer; it stays until
   * both have ended. Peers with only a socket are counted but never picked: the process that has the socket knows them.
   */
  announce(request: SwarmRequest): void
  /**
   * Ends all sockets left behind by a process: their peers expire.
   *
   * @throws an error that `isUnavailable` recognises if Redis is unavailable
   */
  evict(process: ProcessId): Promise<void>
  /**
   * Counts peers, in the order of the names. A swarm without peers has zeros and the given number of completions.
   *
   * @throws an error that `isUnavailable` recognises if Redis is unavailable
   */
  count(swarms: readonly { readonly name: SwarmName; readonly completed: number }[]): Promise<readonly SwarmCounts[]>
  /**
   * Removes expired peers of swarms without announces. If Redis is still full and no accounting batch is waiting, it also
   * drops the oldest counters of expired peers.
   *
   * @returns the number of tags whose counters were dropped
   * @throws an error that `isUnavailable` recognises if Redis is unavailable
   */
  sweep(): Promise<number>
  /**
   * Ends an owner's peers that announce over HTTP. Their counters are kept, like those of an expired peer.
   *
   * @throws an error that `isUnavailable` recognises if Redis is unavailable
   */
  expel(owner: Buffer, swarms: readonly SwarmName[]): Promise<void>
  /** @throws an error that `isUnavailable` recognises while announces would fail, for example because Redis is full */
  check(): Promise<void>
  /** Whether announces fail because Redis is full. @throws an error that `isUnavailable` recognises if they fail for another reason */
  isFull(): Promise<boolean>
}

/**
 * Carries out an announce and returns its result.
 *
 * @throws an error that `isUnavailable` recognises if Redis is unavailable
 */
export function announced(
  swarms: Pick<Swarms, 'announce'>,
  peer: PeerAnnounce,
  socket?: SocketAnnounce,
): Promise<SwarmAnswer> {
  return new Promise((answered, failed) => swarms.announce({ peer, socket, answered, failed }))
}
