import { hash } from 'node:crypto'
import type { BencodeDict } from '../bencode/decode.ts'
import { bytesOf } from '../bencode/fields.ts'
import { TorrentError } from './error.ts'
import type { V2File } from './v2.ts'

const HASH_LENGTH = 32
const BLOCK_LENGTH = 16 * 1024

/**
 * Checks `piece layers` (BEP 52) against the files: each file longer than a piece has a layer with one hash per piece,
 * whose root is its `pieces root`, and there are no other layers.
 *
 * @throws {TorrentError} `invalid_piece_layers`, `piece_layer_mismatch`
 */
export function checkPieceLayers(layers: BencodeDict, files: readonly V2File[], pieceLength: number): void {
  const needed = new Map<string, number>()
  for (const { length, piecesRoot } of files) {
    if (piecesRoot === undefined || length <= pieceLength) continue
    const root = piecesRoot.toString('latin1')
    const pieceCount = Math.ceil(length / pieceLength)
    // Equal files share a root and a layer; files of different length cannot.
    if ((needed.get(root) ?? pieceCount) !== pieceCount) throw new TorrentError('invalid_piece_layers')
    needed.set(root, pieceCount)
  }
  if (layers.entries.size !== needed.size) throw new TorrentError('invalid_piece_layers')
  const padding = paddingHash(pieceLength)
  for (const [root, pieceCount] of needed) {
    const layer = bytesOf(layers.entries.get(root))
    if (layer?.length !== pieceCount * HASH_LENGTH) throw new TorrentError('invalid_piece_layers')
    if (rootOf(layer, padding).toString('latin1') !== root) throw new TorrentError('piece_layer_mismatch')
  }
}

/** The hash of a piece after the end of the file: a tree of zero leaves. */
function paddingHash(pieceLength: number): Buffer {
  let padding: Buffer = Buffer.alloc(HASH_LENGTH)
  for (let covered = BLOCK_LENGTH; covered < pieceLength; covered *= 2)
    padding = sha256(Buffer.concat([padding, padding]))
  return padding
}

/** Computes the root level by level. The padding of a level completes its odd hash. */
function rootOf(layer: Buffer, padding: Buffer): Buffer {
  let level = layer
  let missing = padding
  while (level.length > HASH_LENGTH) {
    if (level.length % (2 * HASH_LENGTH) !== 0) level = Buffer.concat([level, missing])
    const above = Buffer.allocUnsafe(level.length / 2)
    for (let i = 0; i < above.length; i += HASH_LENGTH) {
      above.write(sha256Text(level.subarray(2 * i, 2 * (i + HASH_LENGTH))), i, 'latin1')
    }
    level = above
    missing = sha256(Buffer.concat([missing, missing]))
  }
  return level
}

function sha256(bytes: Uint8Array): Buffer {
  return Buffer.from(sha256Text(bytes), 'latin1')
}

/**
 * The hash with one character per byte. A layer of 10 MB has 300,000 pairs, for which separate Hash objects, or buffers
 * outside the heap, would take twice as long as the hashing.
 */
function sha256Text(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'binary')
}
