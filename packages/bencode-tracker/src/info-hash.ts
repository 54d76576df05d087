import { brandInfoHash, brandPeerId, type InfoHash, type PeerId } from './brand.ts'
import { lowerHex40 } from './hex.ts'
import { percentTo20BytesHex } from './percent.ts'
import { asciiBytes } from './query-bytes.ts'

export type { InfoHash, PeerId } from './brand.ts'

/** Reads an info hash from 40 hex digits of either case (REST, Torznab `id`); `undefined` for anything else. */
export function parseInfoHash(hex: string): InfoHash | undefined {
  const lower = lowerHex40(hex)
  return lower === '' ? undefined : brandInfoHash(lower)
}

/** Reads an info hash from the raw, still percent-encoded value of `info_hash` (BEP 3); `undefined` unless 20 bytes. */
export function infoHashFromQuery(encoded: string): InfoHash | undefined {
  const hex = queryToHex(encoded)
  return hex === undefined ? undefined : brandInfoHash(hex)
}

/** Takes an info hash from its bytes; `undefined` unless there are exactly 20. */
export function infoHashFromBytes(bytes: Uint8Array): InfoHash | undefined {
  const hex = bytesToHex(bytes)
  return hex === undefined ? undefined : brandInfoHash(hex)
}

/** Reads an info hash from 20 characters U+0000 to U+00FF, the form of WebTorrent messages; else `undefined`. */
export function infoHashFromBinaryString(text: string): InfoHash | undefined {
  const hex = binaryStringToHex(text)
  return hex === undefined ? undefined : brandInfoHash(hex)
}

/** Reads a peer id from 40 hex digits of either case; `undefined` for anything else. */
export function parsePeerId(hex: string): PeerId | undefined {
  const lower = lowerHex40(hex)
  return lower === '' ? undefined : brandPeerId(lower)
}

/** Reads a peer id from the raw, still percent-encoded value of `peer_id` (BEP 3); `undefined` unless 20 bytes. */
export function peerIdFromQuery(encoded: string): PeerId | undefined {
  const hex = queryToHex(encoded)
  return hex === undefined ? undefined : brandPeerId(hex)
}

/** Takes a peer id from its bytes; `undefined` unless there are exactly 20. */
export function peerIdFromBytes(bytes: Uint8Array): PeerId | undefined {
  const hex = bytesToHex(bytes)
  return hex === undefined ? undefined : brandPeerId(hex)
}

/** Reads a peer id from 20 characters U+0000 to U+00FF, the form of WebTorrent messages; else `undefined`. */
export function peerIdFromBinaryString(text: string): PeerId | undefined {
  const hex = binaryStringToHex(text)
  return hex === undefined ? undefined : brandPeerId(hex)
}

/** The 20 bytes of an info hash or peer id. */
export function idToBytes(id: InfoHash | PeerId): Buffer {
  return Buffer.from(id, 'hex')
}

/**
 * An info hash or peer id as 20 characters U+0000 to U+00FF: what WebTorrent messages carry, and the form in which
 * a client's prefix such as `-TR3000-` (BEP 20) can be compared.
 */
export function idToBinaryString(id: InfoHash | PeerId): string {
  return Buffer.from(id, 'hex').toString('latin1')
}

function queryToHex(encoded: string): string | undefined {
  // Twenty escapes are the longest form there is.
  const bytes = encoded.length > 60 ? undefined : asciiBytes(encoded)
  return bytes === undefined ? undefined : percentTo20BytesHex(bytes, 0, encoded.length) || undefined
}

function bytesToHex(bytes: Uint8Array): string | undefined {
  if (bytes.byteLength !== 20) return undefined
  return Buffer.from(bytes.buffer, bytes.byteOffset, 20).toString('hex')
}

function binaryStringToHex(text: string): string | undefined {
  if (text.length !== 20) return undefined
  for (let i = 0; i < 20; i++) {
    // Beyond U+00FF the latin1 codec would silently keep the low byte only.
    if (text.charCodeAt(i) > 0xff) return undefined
  }
  return Buffer.from(text, 'latin1').toString('hex')
}
