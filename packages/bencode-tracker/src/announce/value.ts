import { lowerHex40At } from '../hex.ts'
import { brandInfoHash, brandPasskey, brandPeerId } from '../ids.ts'
import { percentTo20BytesHex, percentToText } from '../query/percent.ts'
import { parseUnsigned, parseUnsignedSaturating } from '../query/unsigned.ts'
import { type KnownParameter, Parameter } from './parameter.ts'
import { type AnnounceFailure, type Draft, MAX_NUMWANT } from './request.ts'

const MAX_KEY_BYTES = 64
const MAX_TRACKER_ID_BYTES = 128
/** BEP 3 allows a DNS name here. */
const MAX_IP_BYTES = 255
const MINUS = 0x2d
const ZERO = 0x30
const ONE = 0x31

/**
 * Reads the value of one known parameter at `query[start, end)`, whose bytes are at the same place in `bytes`, into
 * `request`, or says why it cannot be read.
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
      // Transmission and others send 2^63 - 1 or 2^64 - 1 while they do not know the size, as with a magnet link.
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
