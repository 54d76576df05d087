import { createHash } from 'node:crypto'
import { type BencodeInput, encodeBencode } from '../../src/testing.ts'

export type Dict = Record<string, BencodeInput | undefined>

export const PIECE_LENGTH = 32 * 1024
const BLOCK_LENGTH = 16 * 1024

const sha1 = (bytes: Uint8Array): Buffer => createHash('sha1').update(bytes).digest()
const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest()

/** Content that differs from one offset to the next. */
export function content(length: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(length)
  for (let i = 0; i < length; i++) bytes[i] = (i * seed + (i >> 8)) & 0xff
  return bytes
}

/** The `pieces` of BEP 3. */
export function piecesOf(bytes: Uint8Array): Buffer {
  const hashes: Buffer[] = []
  for (let i = 0; i < bytes.length; i += PIECE_LENGTH) hashes.push(sha1(bytes.subarray(i, i + PIECE_LENGTH)))
  return Buffer.concat(hashes)
}

/** A single-file torrent of version 1; `info` and `outer` override, and undefined removes. */
export function singleFile(info: Dict = {}, outer: Dict = {}): Buffer {
  const bytes = content(100_000)
  return encodeBencode({
    announce: 'http://elsewhere.example/announce',
    info: { length: bytes.length, name: 'a.bin', 'piece length': PIECE_LENGTH, pieces: piecesOf(bytes), ...info },
    ...outer,
  })
}

/** A multi-file torrent of version 1 with these entries of `files`; the pieces fit `total` bytes. */
export function multiFile(files: BencodeInput, total: number, info: Dict = {}): Buffer {
  return singleFile({ files, length: undefined, name: 'folder', pieces: piecesOf(content(total)), ...info })
}

/** An entry of `files` for `multiFile`. */
export const file = (path: BencodeInput, length = 1, more: Dict = {}): BencodeInput => ({ length, path, ...more })

type FileTree = {
  readonly root: Buffer
  /** The hashes of the pieces, for a file longer than one. */
  readonly layer: Buffer | undefined
}

/** The whole hash tree of BEP 52, from the blocks up over a power of two of leaves: slow, and plainly as described. */
function hashTree(bytes: Uint8Array): FileTree {
  let level: Buffer[] = []
  for (let i = 0; i < bytes.length; i += BLOCK_LENGTH) level.push(sha256(bytes.subarray(i, i + BLOCK_LENGTH)))
  const pieceCount = Math.ceil(bytes.length / PIECE_LENGTH)
  const blocksPerPiece = PIECE_LENGTH / BLOCK_LENGTH
  const leaves = 2 ** Math.ceil(Math.log2(level.length))
  while (level.length < leaves) level.push(Buffer.alloc(32))
  let layer: Buffer | undefined
  for (let blocks = 1; level.length > 1; blocks *= 2) {
    if (blocks === blocksPerPiece) layer = Buffer.concat(level.slice(0, pieceCount))
    const above: Buffer[] = []
    for (let i = 0; i < level.length; i += 2) above.push(sha256(Buffer.concat(level.slice(i, i + 2))))
    level = above
  }
  return { root: level[0] ?? Buffer.alloc(32), layer: pieceCount > 1 ? layer : undefined }
}

/** The parts of a version 2 or hybrid torrent, which a test can change before encoding. */
export type V2Fixture = {
  readonly info: Dict
  readonly layers: Map<string, Buffer>
}

/** The three files of the fixture, in the order of a file tree. */
const V2_FILES = [
  { path: ['a', 'long.bin'], bytes: content(5 * PIECE_LENGTH + 1, 3) },
  { path: ['a', 'short.bin'], bytes: content(PIECE_LENGTH, 5) },
  { path: ['empty.txt'], bytes: content(0) },
] as const

export function v2Fixture(): V2Fixture {
  const layers = new Map<string, Buffer>()
  const leaf = (bytes: Buffer): Dict => {
    if (bytes.length === 0) return { '': { length: 0 } }
    const { root, layer } = hashTree(bytes)
    if (layer !== undefined) layers.set(root.toString('latin1'), layer)
    return { '': { length: bytes.length, 'pieces root': root } }
  }
  const [long, short, empty] = V2_FILES
  const info = {
    'file tree': {
      a: { 'long.bin': leaf(long.bytes), 'short.bin': leaf(short.bytes) },
      'empty.txt': leaf(empty.bytes),
    },
    'meta version': 2,
    name: 'folder',
    'piece length': PIECE_LENGTH,
  }
  return { info, layers }
}

/** The same with the keys of version 1: each file but the last is padded to a whole piece (BEP 47, 52). */
export function hybridFixture(): V2Fixture {
  const { info, layers } = v2Fixture()
  const [long, short, empty] = V2_FILES
  const padding = PIECE_LENGTH - 1
  return {
    layers,
    info: {
      ...info,
      files: [
        { length: long.bytes.length, path: [...long.path] },
        { attr: 'p', length: padding, path: ['.pad', String(padding)] },
        { length: short.bytes.length, path: [...short.path] },
        { length: 0, path: [...empty.path] },
      ],
      pieces: piecesOf(Buffer.concat([long.bytes, Buffer.alloc(padding), short.bytes])),
    },
  }
}

export function encodeFixture({ info, layers }: V2Fixture): Buffer {
  return encodeBencode({ info, 'piece layers': layers })
}
