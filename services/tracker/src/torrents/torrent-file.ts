import { buildTorrentFile, prepareUpload, TorrentError } from '@vault-and-tracker/bencode-tracker'
import { apiError } from '../errors.ts'

/** The maximum size of an uploaded .torrent in bytes: enough for several terabytes in pieces of 16 MiB. */
export const MAX_TORRENT_BYTES = 10 * 1024 * 1024

/** The files that a preview shows. */
export const MAX_PREVIEWED_FILES = 1_000

/** The content of a .torrent as it is stored and downloaded. */
export type TorrentContent = {
  /** 40 lower-case hex digits: the info hash of BEP 3, or the truncated one of BEP 52 for a pure v2 torrent. */
  readonly infoHash: string
  /** The truncated info hash of BEP 52 of a hybrid torrent. */
  readonly infoHashV2: string | null
  readonly name: string
  readonly size: number
  readonly fileCount: number
  /** The first files, as many as a preview shows. */
  readonly firstFiles: readonly TorrentFile[]
  /** All files as JSON, `[[path, size], …]`: 50,000 objects would hold up whoever gets them from another thread. */
  readonly fileList: Uint8Array
  /** The bencoded info dictionary. */
  readonly info: Uint8Array
  /** The bencoded piece layers of v2 (BEP 52). */
  readonly pieceLayers: Uint8Array | null
}

/** A file of a torrent, its size in bytes. */
export type TorrentFile = { readonly path: string; readonly size: number }

/** What became of a file: its content, or the problem that it was refused for. */
export type ReadTorrent = { readonly content: TorrentContent } | { readonly problem: string }

/**
 * Reads an uploaded .torrent, makes it private (BEP 27), sets `source`, and computes the info hashes of the result.
 * It takes up to a second of a processor, so it is called in a thread of its own.
 */
export function readTorrent(bytes: Uint8Array, source: string): ReadTorrent {
  try {
    const torrent = prepareUpload(bytes, { source, maxBytes: MAX_TORRENT_BYTES })
    const { files } = torrent
    return {
      content: {
        infoHash: torrent.infoHash,
        infoHashV2: torrent.version === 'hybrid' ? (torrent.infoHashV2 ?? null) : null,
        name: displayName(torrent.name),
        size: torrent.totalSize,
        fileCount: files.length,
        firstFiles: files.slice(0, MAX_PREVIEWED_FILES).map(({ path, length }) => ({ path, size: length })),
        fileList: Buffer.from(JSON.stringify(files.map(({ path, length }) => [path, length]))),
        info: torrent.infoSlice,
        pieceLayers: torrent.pieceLayersSlice ?? null,
      },
    }
  } catch (error) {
    if (error instanceof TorrentError) return { problem: error.message }
    throw error
  }
}

/**
 * Reads an uploaded .torrent as `readTorrent` does, beside other requests.
 *
 * @param bytes are handed over: they are not to be used any more
 * @param owner id of the user whose file it is: users take turns
 * @throws ApiError BAD_REQUEST naming the problem of the file; UNAVAILABLE when it could not be read in time
 */
export type ReadTorrentFile = (bytes: Buffer, source: string, owner: string) => Promise<TorrentContent>

/** The error for a file that is refused. */
export function refusedTorrent(problem: string): Error {
  return apiError('BAD_REQUEST', `torrent: ${problem}.`)
}

/** Builds a .torrent for download. The info dictionary is copied byte for byte, so its hash stays the same. */
export function writeTorrentFile(
  content: Pick<TorrentContent, 'info' | 'pieceLayers'>,
  outer: { announceUrl: string; furtherTiers: readonly string[][]; comment: string; createdAt: Date },
): Buffer {
  return buildTorrentFile({
    infoSlice: content.info,
    pieceLayersSlice: content.pieceLayers ?? undefined,
    announceUrl: outer.announceUrl,
    furtherTiers: outer.furtherTiers,
    comment: outer.comment,
    creationDate: Math.floor(outer.createdAt.getTime() / 1_000),
  })
}

/** Characters that a displayed name has no place for; see `text` in http/fields.ts, which refuses the same ones. */
const NOT_SHOWN = /(?![\u00AD\u200C\u200D])\p{C}/gu

/**
 * The name in the info dictionary may hold any text. The displayed name has no control characters and 1 to 255 others.
 */
function displayName(name: string): string {
  const shown = Array.from(name.replace(NOT_SHOWN, ' ').trim()).slice(0, 255).join('')
  return /[^\p{Default_Ignorable_Code_Point}\s]/u.test(shown) ? shown : 'unnamed'
}
