import {
  type AnnounceEvent,
  type AnnounceRequest,
  type Passkey,
  type WarningName,
} from '@vault-and-tracker/bencode-tracker'
import type { PeerAnnounce, SwarmAnswer, SwarmRequest } from '../swarm/swarm.ts'
import type { AnnounceCounters } from './announce-counters.ts'
import type { AnnounceTorrent, AnnounceUser, Multipliers } from './directory.ts'
import type { PeerEndpoints } from './peer-endpoints.ts'
import type { Refusal } from './refusal.ts'

/** An announce over a socket: who its peers belong to in open mode, 8 bytes. Such a peer has no address. */
export type OverSocket = { owner(): Buffer }

/**
 * One announce on its way through four stations: a transport reads it, the rules check it, the swarm carries it out, and
 * the transport replies. It carries everything that is known of it, so no station needs a promise or a closure of its own,
 * and a connection uses one object for all of its announces, one after the other.
 *
 * After `Announces.check`, one of `accepted` and `refused` is called; after `Swarms.announce`, one of `answered` and
 * `failed`.
 */
export abstract class Announce implements SwarmRequest {
  // What the transport has read before the rules are applied.
  request!: AnnounceRequest
  passkey: Passkey | undefined
  /** Where it came from: 4 or 16 bytes. */
  address!: Uint8Array
  overSocket: OverSocket | undefined

  // What the rules have looked up: `null` until then, and `undefined` if it does not exist.
  user: AnnounceUser | null | undefined = null
  torrent: AnnounceTorrent | null | undefined = null
  site: Multipliers | null | undefined = null
  endpoints: PeerEndpoints | null = null
  /** Seconds that the limit of announces asks to wait, and that of unknown passkeys: 0 when not exceeded. */
  wait: number | null = null
  passkeyWait: number | null = null
  /** A stop with a passkey that no user has. */
  isStopOfNobody = false

  /** The announce for the swarm, once it is accepted. */
  peer!: PeerAnnounce
  abstract readonly socket: SwarmRequest['socket']

  get isStop(): boolean {
    return this.request.event === 'stopped'
  }

  /** Whether the torrent waits for moderation, so the swarm must not hear of the announce. */
  get isPending(): boolean {
    return !this.isStop && this.torrent?.state === 'pending'
  }

  /** Forgets what the rules found of the announce before. */
  restart(): void {
    this.user = this.torrent = this.site = this.endpoints = this.wait = this.passkeyWait = null
    this.isStopOfNobody = false
  }

  /** No rule refuses it, and `peer` is set. */
  abstract accepted(): void
  abstract refused(refusal: Refusal): void
  abstract answered(answer: SwarmAnswer): void
  abstract failed(error: unknown): void
}

/** The warning that an answer comes with, if any. */
export function warningOf({ status }: SwarmAnswer): WarningName | undefined {
  return status === 'accepted' || status === 'held' ? undefined : status
}

/** Counts an announce that was carried out, and what was unusual about it. */
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
