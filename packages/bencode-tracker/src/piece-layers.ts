import { createHash } from 'node:crypto'
import type { BencodeDict } from './bencode-decode.ts'
import { bytesOf } from './bencode-fields.ts'
import { TorrentError } from './torrent-error.ts'
import type { V2File } from './torrent-v2.ts'

const HASH_LENGTH = 32
const BLOCK_LENGTH = 16 * 1024

/**
 * Checks `piece layers` (BEP 52) against the files: each file longer than a piece has a layer of one hash per piece that
 * hashes up to its `pieces root`, and there is no other layer.
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

/** The hash that stands for a piece entirely behind the end of the file: a tree over leaves of zeros. */
function paddingHash(pieceLength: number): Buffer {
  let hash: Buffer = Buffer.alloc(HASH_LENGTH)
  for (let covered = BLOCK_LENGTH; covered < pieceLength; covered *= 2) hash = hashPair(hash, hash)
  return hash
}

function rootOf(layer: Buffer, padding: Buffer): Buffer {
  let hashes: Buffer[] = []
  for (let i = 0; i < layer.length; i += HASH_LENGTH) hashes.push(layer.subarray(i, i + HASH_LENGTH))
  // Level by level; what is missing on the right is the padding of that level.
  let missing = padding
  while (hashes.length > 1) {
    const above: Buffer[] = []
    for (let i = 0; i < hashes.length; i += 2) above.push(hashPair(hashes[i] ?? missing, hashes[i + 1] ?? missing))
    hashes = above
    missing = hashPair(missing, missing)
  }
  return hashes[0] ?? missing
}

function hashPair(left: Buffer, right: Buffer): Buffer {
  return createHash('sha256').update(left).update(right).digest()
}
