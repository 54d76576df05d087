import { brandInfoHash, brandPasskey, brandPeerId, lowerHex40At } from '../ids.ts'
import { parseUnsigned, parseUnsignedSaturating, percentTo20BytesHex, percentToText } from '../query.ts'
import { type AnnounceFailure, type Draft, MAX_NUMWANT } from './request.ts'

/** The parameters of an announce, numbered without gaps so that a `switch` over them is one jump. */
export const Parameter = {
  infoHash: 0,
  peerId: 1,
  port: 2,
  uploaded: 3,
  downloaded: 4,
  left: 5,
  event: 6,
  compact: 7,
  noPeerId: 8,
  numwant: 9,
  key: 10,
  trackerId: 11,
  ip: 12,
  ipv4: 13,
  ipv6: 14,
  passkey: 15,
  /** `corrupt`, `redundant`, `supportcrypto` and other parameters of clients. */
  unknown: -1,
} as const

export type Parameter = (typeof Parameter)[keyof typeof Parameter]
export type KnownParameter = Exclude<Parameter, typeof Parameter.unknown>

type Entry = {
  readonly name: Uint8Array
  readonly parameter: KnownParameter
}

const SHORTEST_NAME = 2
const LONGEST_NAME = 10
const TABLE: (Entry | undefined)[] = Array.from({ length: (LONGEST_NAME + 1) * 32 })

/** Length, first and last byte distinguish the known names, so one table lookup leaves one candidate. */
function slotOf(name: Uint8Array, start: number, end: number): number {
  return (end - start) * 32 + (((name[start] ?? 0) + (name[end - 1] ?? 0)) & 31)
}

function enter(text: string, parameter: KnownParameter): void {
  const name = new Uint8Array(Buffer.from(text, 'latin1'))
  const slot = slotOf(name, 0, name.length)
  if (TABLE[slot] !== undefined) throw new TypeError(`${text} needs another way of telling names apart`)
  TABLE[slot] = { name, parameter }
}

enter('info_hash', Parameter.infoHash)
enter('peer_id', Parameter.peerId)
enter('port', Parameter.port)
enter('uploaded', Parameter.uploaded)
enter('downloaded', Parameter.downloaded)
enter('left', Parameter.left)
enter('event', Parameter.event)
enter('compact', Parameter.compact)
enter('no_peer_id', Parameter.noPeerId)
enter('numwant', Parameter.numwant)
enter('key', Parameter.key)
enter('trackerid', Parameter.trackerId)
enter('ip', Parameter.ip)
enter('ipv4', Parameter.ipv4)
enter('ipv6', Parameter.ipv6)
enter('passkey', Parameter.passkey)

/** The parameter whose name is at `query[start, end)`. */
export function identifyParameter(query: Uint8Array, start: number, end: number): Parameter {
  if (end - start < SHORTEST_NAME || end - start > LONGEST_NAME) return Parameter.unknown
  const candidate = TABLE[slotOf(query, start, end)]
  if (candidate === undefined) return Parameter.unknown
  const { name, parameter } = candidate
  for (let i = 0; i < name.length; i++) {
    if (name[i] !== query[start + i]) return Parameter.unknown
  }
  return parameter
}

const MAX_KEY_BYTES = 64
const MAX_TRACKER_ID_BYTES = 128
/** BEP 3 allows a DNS name here. */
const MAX_IP_BYTES = 255
const MINUS = 0x2d
const ZERO = 0x30
const ONE = 0x31

/**
 * Parses the value of a known parameter at `query[start, end)` into `request`. Its bytes are at the same offsets in
 * `bytes`. Returns the failure if the value is invalid.
 */
export function readParameter(
  request: Draft,
  parameter: KnownParameter,
  query: string,
  bytes: Uint8Array,
  start: number,
  end: number,
): AnnounceFailure | undefined {
  switch (parameter) {
    case Parameter.infoHash: {
      const hex = percentTo20BytesHex(bytes, start, end)
      request.infoHash = brandInfoHash(hex)
      return hex === '' ? 'invalid_info_hash' : undefined
    }
    case Parameter.peerId: {
      const hex = percentTo20BytesHex(bytes, start, end)
      request.peerId = brandPeerId(hex)
      return hex === '' ? 'invalid_peer_id' : undefined
    }
    case Parameter.port:
      request.port = parseUnsigned(bytes, start, end)
      return request.port < 0 || request.port > 65535 ? 'invalid_port' : undefined
    case Parameter.uploaded:
      request.uploaded = parseUnsigned(bytes, start, end)
      return request.uploaded < 0 ? 'invalid_uploaded' : undefined
    case Parameter.downloaded:
      request.downloaded = parseUnsigned(bytes, start, end)
      return request.downloaded < 0 ? 'invalid_downloaded' : undefined
    case Parameter.left:
      // Transmission and others send 2^63 - 1 or 2^64 - 1 until they know the size, for example with a magnet link.
      request.left = parseUnsignedSaturating(bytes, start, end)
      return request.left < 0 ? 'invalid_left' : undefined
    case Parameter.event:
      return readEvent(request, query, start, end)
    case Parameter.compact:
      request.compact = bytes[start] === ONE
      return isFlag(bytes, start, end) ? undefined : 'invalid_compact'
    case Parameter.noPeerId:
      request.noPeerId = bytes[start] === ONE
      return isFlag(bytes, start, end) ? undefined : 'invalid_no_peer_id'
    case Parameter.numwant: {
      const negative = bytes[start] === MINUS
      const wanted = parseUnsignedSaturating(bytes, negative ? start + 1 : start, end)
      request.numwant = negative ? 0 : Math.min(wanted, MAX_NUMWANT)
      return wanted < 0 ? 'invalid_numwant' : undefined
    }
    case Parameter.key:
      request.key = percentToText(query, start, end, MAX_KEY_BYTES)
      return request.key === undefined ? 'invalid_key' : undefined
    case Parameter.trackerId:
      request.trackerId = percentToText(query, start, end, MAX_TRACKER_ID_BYTES)
      return request.trackerId === undefined ? 'invalid_trackerid' : undefined
    case Parameter.ip:
      request.ip = percentToText(query, start, end, MAX_IP_BYTES)
      return request.ip === undefined ? 'invalid_ip' : undefined
    case Parameter.ipv4:
      request.ipv4 = percentToText(query, start, end, MAX_IP_BYTES)
      return request.ipv4 === undefined ? 'invalid_ip' : undefined
    case Parameter.ipv6:
      request.ipv6 = percentToText(query, start, end, MAX_IP_BYTES)
      return request.ipv6 === undefined ? 'invalid_ip' : undefined
    case Parameter.passkey: {
      const hex = lowerHex40At(query, bytes, start, end)
      request.passkey = brandPasskey(hex)
      return hex === '' ? 'invalid_passkey' : undefined
    }
  }
}

function readEvent(request: Draft, query: string, start: number, end: number): 'invalid_event' | undefined {
  switch (query.slice(start, end)) {
    case '':
    case 'empty': // BEP 3: "which is the same as not being present".
      return undefined
    case 'started':
      request.event = 'started'
      return undefined
    case 'completed':
      request.event = 'completed'
      return undefined
    case 'stopped':
      request.event = 'stopped'
      return undefined
    case 'paused':
      request.event = 'paused'
      return undefined
    default:
      return 'invalid_event'
  }
}

function isFlag(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start === 1 && (bytes[start] === ZERO || bytes[start] === ONE)
}
