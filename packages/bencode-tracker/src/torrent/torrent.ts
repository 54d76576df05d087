import type { BencodeOptions } from '../bencode/decode.ts'
import type { InfoHash } from '../ids.ts'

/** One file of a torrent; padding (BEP 47) is not listed. */
export type TorrentFile = {
  /** Components joined by `/`. In a single-file torrent the torrent's name, else the path inside its folder. */
  readonly path: string
  /** Bytes. */
  readonly length: number
}

/** What a .torrent file says, checked. */
export type Torrent = {
  /** `v1` is BEP 3, `v2` is BEP 52, `hybrid` is both in one info dictionary. */
  readonly version: 'v1' | 'v2' | 'hybrid'
  /** The identity of the torrent: the SHA-1 of the info slice, or for `v2` its SHA-256 cut to 20 bytes. */
  readonly infoHash: InfoHash
  /** The SHA-256 of the info slice cut to 20 bytes, which clients announce beside `infoHash`; none for `v1`. */
  readonly infoHashV2: InfoHash | undefined
  /** The exact bytes of the info dictionary. A copy. */
  readonly infoSlice: Buffer
  /** The exact bytes of `piece layers` (BEP 52), which stand outside the info dictionary; none for `v1`. A copy. */
  readonly pieceLayersSlice: Buffer | undefined
  readonly name: string
  /** True when `name` is a folder. */
  readonly multiFile: boolean
  /** At least one, in the order of the torrent. */
  readonly files: readonly TorrentFile[]
  /** Bytes of all files, padding not counted; above 0. */
  readonly totalSize: number
  /** Bytes, a power of two. */
  readonly pieceLength: number
  readonly pieceCount: number
  /** BEP 27. */
  readonly private: boolean
  /** `info.source`, by which trackers tell their own copies apart; `undefined` also when it is not UTF-8. */
  readonly source: string | undefined
}

/** Bounds of what is read from an untrusted .torrent file. */
export type TorrentLimits = {
  /** Default 50,000. */
  readonly maxFiles?: number
  /** Bytes. Default 256 MiB. */
  readonly maxPieceLength?: number
} & BencodeOptions
