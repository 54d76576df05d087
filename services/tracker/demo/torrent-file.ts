import { createHash } from 'node:crypto'
import { encodeBencode } from '@vault-and-tracker/bencode-tracker/testing'
import { demoContent, PIECE_BYTES, pieceHashes } from '@vault-and-tracker/dev-env'

/** Larger torrents have no data, so their hashes are made up. */
const MAX_CONTENT_BYTES = 10 * 2 ** 20
const LARGE_PIECE_BYTES = 2 ** 24

/** Whether the clients of the demo have the data of a torrent. */
export function hasContent(length: number): boolean {
  return length <= MAX_CONTENT_BYTES
}

/** The SHA-1 of each piece. */
export function piecesOf(name: string, length: number): readonly Buffer[] {
  return pieceHashes(demoContent(name, length))
}

/** A well-formed .torrent file. */
export function torrentFile(name: string, length: number): Buffer {
  const pieces = hasContent(length)
    ? Buffer.concat(piecesOf(name, length))
    : createHash('shake256', { outputLength: 20 * Math.ceil(length / LARGE_PIECE_BYTES) })
        .update(name)
        .digest()
  const pieceLength = hasContent(length) ? PIECE_BYTES : LARGE_PIECE_BYTES
  return encodeBencode({ info: { length, name, 'piece length': pieceLength, pieces } })
}
