import {
  type AnnounceEvent,
  type AnnounceRequest,
  type Passkey,
  type WarningName,
} from '@vault-and-tracker/bencode-tracker'
import type { PeerAnnounce, SwarmAnswer, SwarmRequest } from '../swarm/swarm.ts'
import type { AnnounceCounters } from './announce-counters.ts'
import type { OverLimit } from './limits.ts'
import type { AnnounceSite, AnnounceTorrent, PasskeyUser } from './lookups.ts'
import type { PeerEndpoints } from './peer-endpoints.ts'
import type { Refusal, Refusals } from './refusal.ts'

/** Set for an announce over a socket. `owner` returns the owner of its peers in open mode, 8 bytes. Such a peer has no address. */
export type OverSocket = { owner(): Buffer }

/**
 * An announce passes four stations: a transport reads it, the rules check it, the swarm carries it out, and the transport
 * replies. This object carries all of its state, so no station allocates a promise or a closure, and a connection reuses
 * one object for all of its announces.
 *
 * `Announces.check` calls `accepted` or `refused`; `Swarms.announce` calls `answered` or `failed`.
 */
export abstract class Announce implements SwarmRequest {
  // Set by the transport before the rules are applied.
  request!: AnnounceRequest
  passkey: Passkey | undefined
  /** The client's address: 4 or 16 bytes. */
  address!: Uint8Array
  overSocket: OverSocket | undefined

  // Set by the rules: `null` until looked up, `undefined` if it does not exist.
  user: PasskeyUser | null | undefined = null
  torrent: AnnounceTorrent | null | undefined = null
  site: AnnounceSite | null | undefined = null
  endpoints: PeerEndpoints | null = null
  /** Set if it is over the announce limit. */
  over: OverLimit | null | undefined = null
  /** Seconds to wait according to the limit on unknown passkeys; 0 if not exceeded. */
  passkeyWait: number | null = null
  /** A `stopped` event with an unknown passkey. */
  isStopOfNobody = false

  /** The announce as input for the swarm, once accepted. */
  peer!: PeerAnnounce
  abstract readonly socket: SwarmRequest['socket']

  get isStop(): boolean {
    return this.request.event === 'stopped'
  }

  /** Whether the torrent is awaiting moderation, so the announce must not reach the swarm. */
  get isPending(): boolean {
    return !this.isStop && this.torrent?.state === 'pending'
  }

  /** Whether it must not reach the swarm. */
  get skipsSwarm(): boolean {
    return this.isStopOfNobody || this.isPending
  }

  /** Refuses it because of the announce limit. */
  refusalOverLimit(refusals: Refusals): Refusal {
    return refusals.refuseOverLimit('announce', 'announce_limit', this.over?.wait ?? 0)
  }

  /** Clears the state that the rules set for the previous announce. */
  restart(): void {
    this.user = this.torrent = this.site = this.endpoints = this.over = this.passkeyWait = null
    this.isStopOfNobody = false
  }

  /** Called if no rule refuses it; `peer` is set. */
  abstract accepted(): void
  abstract refused(refusal: Refusal): void
  abstract answered(answer: SwarmAnswer): void
  abstract failed(error: unknown): void
}

/** The warning in the reply, if any, to an announce that was carried out. */
export function warningOf({ over, isStop }: Announce, { status }: SwarmAnswer): WarningName | undefined {
  if (status === 'accepted') return over && !isStop ? 'over_announce_limit' : undefined
  return status === 'held' || status === 'not_admitted' ? undefined : status
}

/** Counts an announce that was carried out, with its warning and anomalies. */
export function countAnnounce(
  counters: AnnounceCounters,
  event: AnnounceEvent,
  { rejoined, implausible, elsewhere }: Pick<SwarmAnswer, 'rejoined' | 'implausible' | 'elsewhere'>,
  warning: WarningName | undefined,
): void {
  counters.countAnnounce(event)
  if (warning !== undefined) counters.countWarning(warning)
  if (rejoined) counters.countAnomaly('rejoined')
  if (implausible) counters.countAnomaly('implausible')
  if (elsewhere) counters.countAnomaly('elsewhere')
}
