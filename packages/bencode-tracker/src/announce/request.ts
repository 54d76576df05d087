import { brandInfoHash, brandPeerId, type InfoHash, type Passkey, type PeerId } from '../ids.ts'
import type { FailureName } from './failure-table.ts'

/** `none` is an announce at the regular interval; `paused` comes from a partial seed (BEP 21). */
export type AnnounceEvent = 'none' | 'started' | 'completed' | 'stopped' | 'paused'

/** The parameters of one announce (BEP 3) as the client sent them, before any policy. */
export type AnnounceRequest = {
  readonly infoHash: InfoHash
  readonly peerId: PeerId
  /** Listening port, 0..65535. The caller decides whether to accept it, see `isRefusedPort`. */
  readonly port: number
  /** Bytes of this session. */
  readonly uploaded: number
  /** Bytes of this session. */
  readonly downloaded: number
  /** Bytes left to download; 0 for a seeder. Larger numbers are capped at 2^53 - 1. */
  readonly left: number
  readonly event: AnnounceEvent
  /** BEP 23: true for the compact form, which is also the default. */
  readonly compact: boolean
  readonly noPeerId: boolean
  /** Peers wanted, 0..100. */
  readonly numwant: number
  /** BEP 7: identifies the IPv4 and IPv6 announces of one client. */
  readonly key: string | undefined
  /** One character U+0000 to U+00FF per byte. */
  readonly trackerId: string | undefined
  /** Claimed addresses, percent-decoded but not validated: they may be host names, endpoints or nonsense. */
  readonly ip: string | undefined
  readonly ipv4: string | undefined
  readonly ipv6: string | undefined
  readonly passkey: Passkey | undefined
}

/** The failures that `parseAnnounceQuery` can find. */
export type AnnounceFailure = Exclude<
  Extract<
    FailureName,
    `missing_${string}` | `invalid_${string}` | 'several_info_hashes' | 'repeated_parameter' | 'query_too_long'
  >,
  'missing_passkey' | 'invalid_message' | 'invalid_offers' | 'invalid_answer'
>

/** Default number of peers in a reply. */
const DEFAULT_NUMWANT = 50
/** Maximum number of peers in a reply. */
export const MAX_NUMWANT = 100

/** A request while its parameters are being read. */
export type Draft = { -readonly [Field in keyof AnnounceRequest]: AnnounceRequest[Field] }

const NO_INFO_HASH = brandInfoHash('')
const NO_PEER_ID = brandPeerId('')

/** All fields at once and in one order, so that every request has the same hidden class. */
export function blankRequest(): Draft {
  return {
    infoHash: NO_INFO_HASH,
    peerId: NO_PEER_ID,
    port: 0,
    uploaded: 0,
    downloaded: 0,
    left: 0,
    event: 'none',
    compact: true,
    noPeerId: false,
    numwant: DEFAULT_NUMWANT,
    key: undefined,
    trackerId: undefined,
    ip: undefined,
    ipv4: undefined,
    ipv6: undefined,
    passkey: undefined,
  }
}
