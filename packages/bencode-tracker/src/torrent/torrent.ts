import type { BencodeOptions } from '../bencode/decode.ts'
import type { InfoHash } from '../ids.ts'

/** One file of a torrent; padding (BEP 47) is not listed. */
export type TorrentFile = {
  /** Components joined by `/`: the name of a single-file torrent, or the path within the folder. */
  readonly path: string
  /** Bytes. */
  readonly length: number
}

/** The checked content of a .torrent file. */
export type Torrent = {
  /** `v1` is BEP 3, `v2` is BEP 52, `hybrid` is both in one info dictionary. */
  readonly version: 'v1' | 'v2' | 'hybrid'
  /** The identity of the torrent: the SHA-1 of the info slice, or for `v2` its SHA-256 truncated to 20 bytes. */
  readonly infoHash: InfoHash
  /** The SHA-256 of the info slice truncated to 20 bytes, which clients also announce; undefined for `v1`. */
  readonly infoHashV2: InfoHash | undefined
  /** A copy of the exact bytes of the info dictionary. */
  readonly infoSlice: Buffer
  /** A copy of the exact bytes of `piece layers` (BEP 52) outside the info dictionary; undefined for `v1`. */
  readonly pieceLayersSlice: Buffer | undefined
  readonly name: string
  /** Whether `name` is a folder. */
  readonly multiFile: boolean
  /** At least one, in the order of the torrent. */
  readonly files: readonly TorrentFile[]
  /** Bytes of all files without padding; above 0. */
  readonly totalSize: number
  /** Bytes, a power of two. */
  readonly pieceLength: number
  readonly pieceCount: number
  /** BEP 27. */
  readonly private: boolean
  /** `info.source`, by which trackers distinguish their copies; `undefined` also if it is not UTF-8. */
  readonly source: string | undefined
}

/** Limits for untrusted .torrent files. */
export type TorrentLimits = {
  /** Default 50,000. */
  readonly maxFiles?: number
  /** Bytes. Default 256 MiB. */
  readonly maxPieceLength?: number
} & BencodeOptions
