import { type BencodeDict, rawSlice } from '../bencode/decode.ts'
import { type BencodeInput, encodeBencode, RawBencode } from '../bencode/encode.ts'
import { decodeRoot, infoHashesOf, infoOf, readTorrent } from './parse.ts'
import type { Torrent, TorrentLimits } from './torrent.ts'

export type PrepareUploadOptions = {
  /** The site's name for `info.source`. It gives the copy its own info hash, so that sites cannot be confused. */
  readonly source: string
} & TorrentLimits

/** The info keys that describe the content. Other keys are dropped, because they could contain hidden marks. */
const KEPT_INFO_KEYS = [
  'file tree',
  'files',
  'length',
  'meta version',
  'name',
  'name.utf-8',
  'piece length',
  'pieces',
] as const

/**
 * Parses an uploaded .torrent file and creates the site's copy: `info.private` is 1 (BEP 27), and `info.source` is the
 * site's. Info keys that describe the content are copied byte for byte, and all others are dropped. From the outer
 * dictionary, only `piece layers` (BEP 52) are kept. The info hash changes unless the file had the same `private` and
 * `source`, so the uploader must download the copy.
 *
 * @throws {TorrentError} and no other error.
 */
export function prepareUpload(bytes: Uint8Array, options: PrepareUploadOptions): Torrent {
  const root = decodeRoot(bytes, options)
  const uploaded = readTorrent(bytes, root, options)
  const infoSlice = siteInfo(bytes, infoOf(root), options.source)
  return {
    // The kept parts were checked in the upload, and are the same in the copy.
    ...uploaded,
    ...infoHashesOf(infoSlice, uploaded.version),
    infoSlice,
    private: true,
    source: options.source,
  }
}

function siteInfo(bytes: Uint8Array, info: BencodeDict, source: string): Buffer {
  const entries = new Map<string, BencodeInput>([
    ['private', 1],
    ['source', source],
  ])
  for (const key of KEPT_INFO_KEYS) {
    const value = info.entries.get(key)
    if (value !== undefined) entries.set(key, new RawBencode(rawSlice(bytes, value)))
  }
  return encodeBencode(entries)
}
