import { type BencodeDict, rawSlice } from './bencode-decode.ts'
import { type BencodeInput, encodeBencode, RawBencode } from './bencode-encode.ts'
import { integerOf, textOf } from './bencode-fields.ts'
import type { InfoHash } from './brand.ts'
import type { Torrent, TorrentLimits } from './torrent.ts'
import { decodeRoot, infoHashesOf, infoOf, readTorrent } from './torrent-file.ts'

export interface PrepareUploadOptions extends TorrentLimits {
  /** The site's name for `info.source`: gives the copy an info hash of its own, so that sites cannot be confused. */
  readonly source: string
}

/** An uploaded torrent in the form in which the site keeps it. */
export interface PreparedUpload {
  /** The site's copy; its info hash is not the uploaded one unless that had the same `private` and `source`. */
  readonly torrent: Torrent
  /** The info hash of the file as it was uploaded, by which the same file is recognised when it comes again. */
  readonly uploadedInfoHash: InfoHash
  /** The outer keys that are kept. `undefined` when absent or not of the kind BEP 3 asks for: they are only notes. */
  readonly comment: string | undefined
  readonly createdBy: string | undefined
  /** Seconds since 1970. */
  readonly creationDate: number | undefined
  readonly encoding: string | undefined
}

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
 * site's, and the other info keys are dropped unless they describe the content. Of the outer keys `comment`,
 * `created by`, `creation date` and `encoding` are kept; `announce`, `announce-list` and `nodes` are among those that
 * are not. The values that are kept are copied byte for byte. The uploader must download the copy, since the info hash
 * changes.
 *
 * @throws {TorrentError} as `parseTorrent` does.
 */
export function prepareUpload(bytes: Uint8Array, options: PrepareUploadOptions): PreparedUpload {
  const root = decodeRoot(bytes, options)
  const uploaded = readTorrent(bytes, root, options)
  const infoSlice = siteInfo(bytes, infoOf(root), options.source)
  const creationDate = integerOf(root.entries.get('creation date'))
  return {
    // What is kept has been checked as part of the upload, and is the same in the copy.
    torrent: {
      ...uploaded,
      ...infoHashesOf(infoSlice, uploaded.version),
      infoSlice,
      private: true,
      source: options.source,
    },
    uploadedInfoHash: uploaded.infoHash,
    comment: textOf(root.entries.get('comment')),
    createdBy: textOf(root.entries.get('created by')),
    creationDate: creationDate !== undefined && creationDate >= 0 ? creationDate : undefined,
    encoding: textOf(root.entries.get('encoding')),
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
