import type { AnnounceRequest, InfoHash, Passkey, WarningName } from '@vault-and-tracker/bencode-tracker'
import type { Lookup } from '@vault-and-tracker/service-kit/core/cache'
import { type Announce, countAnnounce } from '../announce/announce.ts'
import type { AnnounceCounters } from '../announce/announce-counters.ts'
import type { Announces } from '../announce/check-announce.ts'
import type { Lookups, PasskeyUser } from '../announce/lookups.ts'
import type { Refusal, Refusals } from '../announce/refusal.ts'
import { type TrackerMode, torrentFailure, userFailure } from '../announce/rules.ts'
import type { Scrapes } from '../announce/scrape.ts'
import { spreadInterval, tolerantMinInterval, withJitter } from '../swarm/interval.ts'
import { transition } from '../swarm/peer-state.ts'
import { announced, type PeerAnnounce, type ProcessId, type SwarmAnswer, type Swarms } from '../swarm/swarm.ts'

/** In seconds. Browsers find new peers only through offers, so they announce more often than HTTP clients. */
const INTERVAL_S = 120
const MIN_INTERVAL_S = 60
const TOO_SOON_MS = tolerantMinInterval(MIN_INTERVAL_S) * 1000
const NOTHING_UNUSUAL = { rejoined: false, implausible: false, elsewhere: false }

/** The dependencies that announces and scrapes over sockets share with those over HTTP. */
export type SharedParts = {
  readonly mode: TrackerMode
  readonly announces: Announces
  readonly scrapes: Scrapes
  readonly lookups: Lookups
  readonly swarms: Pick<Swarms, 'announce'>
  readonly refusals: Refusals
  readonly counters: AnnounceCounters
}

/** Seconds until a client should announce again. */
export type Intervals = { readonly interval: number; readonly minInterval: number }

/** Connects the sockets of one process to the announce rules and the swarms. */
export class SocketAnnounces {
  readonly process: ProcessId
  private readonly parts: SharedParts

  constructor(process: ProcessId, parts: SharedParts) {
    this.process = process
    this.parts = parts
  }

  /** Checks an announce against the rules. */
  check(announce: Announce): void {
    this.parts.announces.check(announce)
  }

  /** Applies an announce to the swarm. */
  tell(announce: Announce): void {
    this.parts.swarms.announce(announce)
  }

  /** Counts an announce that the swarm applied, or whose torrent is awaiting moderation. */
  count({ request }: Announce, answer: SwarmAnswer | undefined, warning: WarningName | undefined): void {
    countAnnounce(this.parts.counters, request.event, answer ?? NOTHING_UNUSUAL, warning)
  }

  /**
   * Ends a peer whose socket is closed. Its counters are kept.
   *
   * @throws an error that `isUnavailable` recognises if Redis is unavailable
   */
  async close(peer: PeerAnnounce): Promise<void> {
    const { process } = this
    await announced(
      this.parts.swarms,
      { ...peer, kind: 'stopped', state: 'stopped', admits: undefined },
      { process, purpose: 'closes' },
    )
  }

  /**
   * Whether an announce with nothing new comes too soon after the last one, whose age is in milliseconds. The swarm
   * would refuse it.
   */
  isTooSoon({ event, left }: AnnounceRequest, last: PeerAnnounce, since: number): boolean {
    if (event === 'stopped' || event === 'completed') return false
    return since >= 0 && since < TOO_SOON_MS && transition(event, left).state === last.state
  }

  /** Counts an announce that came too soon. Returns when the next one is due. */
  repeat({ event }: AnnounceRequest): Intervals {
    this.parts.counters.countAnnounce(event)
    return this.intervals()
  }

  /** @param isOver whether the user is over the limit of announces */
  intervals(isOver = false): Intervals {
    const spread = isOver ? spreadInterval : withJitter
    return { interval: spread(INTERVAL_S, Math.random), minInterval: MIN_INTERVAL_S }
  }

  /** Refuses an announce over the limit that the swarm did not admit. */
  refuseOverLimit(announce: Announce): Refusal {
    return announce.refusalOverLimit(this.parts.refusals)
  }

  refuse(...refusal: Parameters<Refusals['refuse']>): Refusal {
    return this.parts.refusals.refuse(...refusal)
  }

  refuseError(error: unknown): Refusal {
    return this.parts.refusals.refuseError('announce', error)
  }

  /** Counts the peers of torrents. Never throws: errors become refusals. */
  scrape(
    infoHashes: readonly InfoHash[],
    passkey: Passkey | undefined,
    address: Uint8Array,
  ): ReturnType<Scrapes['scrape']> {
    return this.parts.scrapes.scrape({ ok: true, request: { infoHashes, passkey } }, passkey, address)
  }

  /** The user of a passkey. Rejects with an error that `isUnavailable` recognises if Postgres is unavailable. */
  userOf(passkey: Passkey | undefined): Lookup<PasskeyUser> {
    return passkey === undefined || this.parts.mode === 'open' ? undefined : this.parts.lookups.user(passkey)
  }

  /**
   * Whether the user of a passkey may announce.
   *
   * @throws an error that `isUnavailable` recognises if Postgres is unavailable
   */
  async isUserAllowed(passkey: Passkey | undefined): Promise<boolean> {
    if (this.parts.mode === 'open') return true
    return passkey !== undefined && userFailure(await this.parts.lookups.user(passkey)) === undefined
  }

  /**
   * The reason why a torrent may not be announced, if any.
   *
   * @throws an error that `isUnavailable` recognises if Postgres is unavailable
   */
  async refuseTorrent(infoHash: InfoHash): Promise<Refusal | undefined> {
    const torrent = await this.parts.lookups.torrent(infoHash)
    const failure = torrentFailure(torrent)
    return failure && this.refuse('announce', failure, torrent?.reason)
  }
}
