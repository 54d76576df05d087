import { buildTorrentFile, prepareUpload, TorrentError } from '@vault-and-tracker/bencode-tracker'
import { apiError } from '../errors.ts'

/** The maximum size of an uploaded .torrent in bytes, enough for several terabytes in pieces of 16 MiB. */
export const MAX_TORRENT_BYTES = 10 * 1024 * 1024

/** The number of files that a preview lists. */
export const MAX_PREVIEWED_FILES = 1_000

/** The content of a .torrent as stored and downloaded. */
export type TorrentContent = {
  /** 40 lowercase hex digits: the info hash of BEP 3, or the truncated one of BEP 52 for a pure v2 torrent. */
  readonly infoHash: string
  /** The truncated BEP 52 info hash of a hybrid torrent. */
  readonly infoHashV2: string | null
  readonly name: string
  readonly size: number
  readonly fileCount: number
  /** The files that a preview lists. */
  readonly firstFiles: readonly TorrentFile[]
  /** All files as JSON, `[[path, size], …]`. Receiving 50,000 objects from a thread would block the event loop. */
  readonly fileList: Uint8Array
  /** The bencoded info dictionary. */
  readonly info: Uint8Array
  /** The bencoded piece layers of v2 (BEP 52). */
  readonly pieceLayers: Uint8Array | null
}

/** A file of a torrent, its size in bytes. */
export type TorrentFile = { readonly path: string; readonly size: number }

/** The content of a file, or the reason why it is refused. */
export type ReadTorrent = { readonly content: TorrentContent } | { readonly problem: string }

/**
 * Reads an uploaded .torrent, makes it private (BEP 27), sets `source`, and computes the info hashes of the result.
 * Takes up to a second of CPU time, so it runs in a separate thread.
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
        firstFiles: files
          .slice(0, MAX_PREVIEWED_FILES)
          .map(({ path, length }) => ({ path: displayPath(path), size: length })),
        fileList: Buffer.from(JSON.stringify(files.map(({ path, length }) => [displayPath(path), length]))),
        info: torrent.infoSlice,
        pieceLayers: torrent.pieceLayersSlice ?? null,
      },
    }
  } catch (error) {
    if (error instanceof TorrentError) return { problem: error.message }
    throw error
  }
}

/** Reads .torrent files in a thread. Implemented in torrent-file.thread.ts. */
export type TorrentFileReader = {
  /**
   * Reads an uploaded .torrent as `readTorrent` does, without blocking other requests.
   *
   * @param owner id of the uploader; uploaders take turns
   * @throws ApiError BAD_REQUEST naming the problem of the file; UNAVAILABLE if it could not be read in time
   */
  read(bytes: Buffer, source: string, owner: string): Promise<TorrentContent>
  close(): Promise<void>
}

/** The error for a refused file. */
export function refusedTorrent(problem: string): Error {
  return apiError('BAD_REQUEST', `torrent: ${problem}.`)
}

/** Builds a .torrent for download. The info dictionary is copied byte for byte, which preserves its hash. */
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

/** Characters that displayed names must not contain. `text` in http/fields.ts refuses the same ones. */
const NOT_SHOWN = /(?![\u00AD\u200C\u200D])\p{C}/gu

/** A mark that reverses the direction would show a program as a film. */
function displayPath(path: string): string {
  return path.replace(NOT_SHOWN, ' ')
}

/** The name in the info dictionary can be any text. The displayed name has 1 to 255 characters, none of them control. */
function displayName(name: string): string {
  const shown = Array.from(name.replace(NOT_SHOWN, ' ').trim()).slice(0, 255).join('')
  return /[^\p{Default_Ignorable_Code_Point}\s]/u.test(shown) ? shown : 'unnamed'
}
