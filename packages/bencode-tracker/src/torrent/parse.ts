import { createHash } from 'node:crypto'
import { type BencodeDict, type BencodeValue, decodeBencode, rawSlice } from '../bencode/decode.ts'
import { BencodeError } from '../bencode/error.ts'
import { dictOf, integerOf, textOf } from '../bencode/fields.ts'
import { brandInfoHash, type InfoHash } from '../ids.ts'
import { TorrentError } from './error.ts'
import { assertDistinctPaths, isPlainName } from './paths.ts'
import { checkPieceLayers } from './piece-layers.ts'
import type { Torrent, TorrentLimits } from './torrent.ts'
import { readV1, sumOfLengths } from './v1.ts'
import { readFileTree } from './v2.ts'

const DEFAULT_MAX_FILES = 50_000
const MIN_PIECE_LENGTH = 16 * 1024
const DEFAULT_MAX_PIECE_LENGTH = 256 * 1024 * 1024

/** The outer dictionary. @throws {TorrentError} */
export function decodeRoot(bytes: Uint8Array, limits: TorrentLimits): BencodeDict {
  const root = dictOf(decode(bytes, limits))
  if (root === undefined) throw new TorrentError('not_a_dictionary')
  return root
}

/** The info dictionary. @throws {TorrentError} */
export function infoOf(root: BencodeDict): BencodeDict {
  const info = dictOf(root.entries.get('info'))
  if (info === undefined) throw new TorrentError('missing_info')
  return info
}

/**
 * Checks a .torrent file whose outer dictionary is decoded: version 1 (BEP 3), version 2 and hybrids (BEP 52), and
 * `private` (BEP 27). Info hashes are computed from the exact bytes of the info dictionary, never from a re-encoding.
 * Keys must be sorted unless `requireSortedKeys` is false.
 *
 * @throws {TorrentError} and no other error.
 */
export function readTorrent(bytes: Uint8Array, root: BencodeDict, limits: TorrentLimits): Torrent {
  const info = infoOf(root)
  // The version comes first, because a newer one may change the meaning of everything else (BEP 52).
  const isV2 = readIsV2(info)
  const isV1 = !isV2 || info.entries.has('pieces')
  if (root.entries.has('encrypted_files') || info.entries.has('encrypted_files')) throw new TorrentError('encrypted')
  const name = readName(info)
  const pieceLength = readPieceLength(info, limits.maxPieceLength ?? DEFAULT_MAX_PIECE_LENGTH)
  const maxFiles = limits.maxFiles ?? DEFAULT_MAX_FILES
  const v1 = isV1 ? readV1(info, name, pieceLength, maxFiles) : undefined
  const v2Files = isV2 ? readFileTree(info, maxFiles) : undefined
  const files = v1?.files ?? v2Files?.map(({ path, length }) => ({ path, length })) ?? []
  if (v1 !== undefined && v2Files !== undefined && !isSameContent(v1.files, v2Files)) {
    throw new TorrentError('hybrid_mismatch')
  }
  assertDistinctPaths(files.map((file) => file.path))
  const totalSize = sumOfLengths(files)
  if (totalSize === 0) throw new TorrentError('no_content')
  const layers = dictOf(root.entries.get('piece layers'))
  if (v2Files !== undefined) {
    if (layers === undefined) throw new TorrentError('invalid_piece_layers')
    checkPieceLayers(layers, v2Files, pieceLength)
  }
  const infoSlice = Buffer.from(rawSlice(bytes, info))
  const version = isV1 ? (isV2 ? 'hybrid' : 'v1') : 'v2'
  return {
    version,
    ...infoHashesOf(infoSlice, version),
    infoSlice,
    pieceLayersSlice: isV2 && layers !== undefined ? Buffer.from(rawSlice(bytes, layers)) : undefined,
    name,
    multiFile: v1?.multiFile ?? !(files.length === 1 && files[0]?.path === name),
    files,
    totalSize,
    pieceLength,
    pieceCount: v1?.pieceCount ?? files.reduce((count, file) => count + Math.ceil(file.length / pieceLength), 0),
    private: readPrivate(info),
    source: textOf(info.entries.get('source')),
  }
}

/** The info hashes of an info slice (BEP 3, 52). */
export function infoHashesOf(
  infoSlice: Uint8Array,
  version: Torrent['version'],
): Pick<Torrent, 'infoHash' | 'infoHashV2'> {
  if (version === 'v1') return { infoHash: hash20('sha1', infoSlice), infoHashV2: undefined }
  const infoHashV2 = hash20('sha256', infoSlice)
  return { infoHash: version === 'v2' ? infoHashV2 : hash20('sha1', infoSlice), infoHashV2 }
}

function decode(bytes: Uint8Array, limits: TorrentLimits): BencodeValue {
  try {
    return decodeBencode(bytes, limits)
  } catch (cause) {
    if (cause instanceof BencodeError) throw new TorrentError('invalid_bencode', { cause })
    throw cause
  }
}

function readIsV2(info: BencodeDict): boolean {
  const version = info.entries.get('meta version')
  if (version === undefined) return false
  if (integerOf(version) !== 2) throw new TorrentError('unsupported_version')
  return true
}

/** `name`, or `name.utf-8`, which old programs wrote in addition to a name in a national encoding. */
function readName(info: BencodeDict): string {
  const name = textOf(info.entries.get('name')) ?? textOf(info.entries.get('name.utf-8'))
  if (name === undefined || !isPlainName(name)) throw new TorrentError('invalid_name')
  return name
}

function readPieceLength(info: BencodeDict, max: number): number {
  const length = integerOf(info.entries.get('piece length'))
  if (length === undefined || length < MIN_PIECE_LENGTH || length > max || !Number.isInteger(Math.log2(length))) {
    throw new TorrentError('invalid_piece_length')
  }
  return length
}

function readPrivate(info: BencodeDict): boolean {
  const flag = info.entries.get('private')
  if (flag === undefined) return false
  const value = integerOf(flag)
  if (value !== 0 && value !== 1) throw new TorrentError('invalid_private')
  return value === 1
}

type Listed = {
  readonly path: string
  readonly length: number
}

function isSameContent(v1: readonly Listed[], v2: readonly Listed[]): boolean {
  if (v1.length !== v2.length) return false
  return v1.every((file, i) => file.path === v2[i]?.path && file.length === v2[i].length)
}

function hash20(algorithm: 'sha1' | 'sha256', bytes: Uint8Array): InfoHash {
  return brandInfoHash(createHash(algorithm).update(bytes).digest('hex').slice(0, 40))
}
