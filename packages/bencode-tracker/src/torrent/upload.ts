import { type BencodeDict, rawSlice } from '../bencode/decode.ts'
import { type BencodeInput, encodeBencode, RawBencode } from '../bencode/encode.ts'
import { decodeRoot, infoHashesOf, infoOf, readTorrent } from './parse.ts'
import type { Torrent, TorrentLimits } from './torrent.ts'

export type PrepareUploadOptions = {
  /** The site's name for `info.source`: gives the copy an info hash of its own, so that sites cannot be confused. */
  readonly source: string
} & TorrentLimits

/** Of the info dictionary only what describes the content is kept: anything else could carry hidden marks. */
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
 * Reads an uploaded .torrent file and makes the site's copy of it: `info.private` is 1 (BEP 27), `info.source` is the
 * site's, and the other info keys are dropped unless they describe the content; those are copied byte for byte. Of the
 * outer dictionary `piece layers` (BEP 52) are kept, and nothing else. The uploader must download the copy, since the
 * info hash changes unless the file had the same `private` and `source`.
 *
 * @throws {TorrentError} and nothing else, whatever the bytes.
 */
export function prepareUpload(bytes: Uint8Array, options: PrepareUploadOptions): Torrent {
  const root = decodeRoot(bytes, options)
  const uploaded = readTorrent(bytes, root, options)
  const infoSlice = siteInfo(bytes, infoOf(root), options.source)
  return {
    // What is kept has been checked as part of the upload, and is the same in the copy.
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
