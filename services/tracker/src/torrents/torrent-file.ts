import { buildTorrentFile, prepareUpload, TorrentError } from '@vault-and-tracker/bencode-tracker'
import { apiError } from '../errors.ts'

/** The maximum size of an uploaded .torrent in bytes: enough for several terabytes in pieces of 16 MiB. */
export const MAX_TORRENT_BYTES = 10 * 1024 * 1024

/** The content of a .torrent as it is stored and downloaded. */
export type TorrentContent = {
  /** 40 lower-case hex digits: the info hash of BEP 3, or the truncated one of BEP 52 for a pure v2 torrent. */
  readonly infoHash: string
  /** The truncated info hash of BEP 52 of a hybrid torrent. */
  readonly infoHashV2: string | null
  readonly name: string
  readonly size: number
  readonly files: readonly { readonly path: string; readonly size: number }[]
  /** The bencoded info dictionary. */
  readonly info: Buffer
  /** The bencoded piece layers of v2 (BEP 52). */
  readonly pieceLayers: Buffer | null
}

/**
 * Reads an uploaded .torrent, makes it private (BEP 27), sets `source`, and computes the info hashes of the result.
 *
 * @throws ApiError BAD_REQUEST naming the problem of the file
 */
export function readUpload(bytes: Buffer, source: string): TorrentContent {
  try {
    const torrent = prepareUpload(bytes, { source, maxBytes: MAX_TORRENT_BYTES })
    return {
      infoHash: torrent.infoHash,
      infoHashV2: torrent.version === 'hybrid' ? (torrent.infoHashV2 ?? null) : null,
      name: displayName(torrent.name),
      size: torrent.totalSize,
      files: torrent.files.map(({ path, length }) => ({ path, size: length })),
      info: torrent.infoSlice,
      pieceLayers: torrent.pieceLayersSlice ?? null,
    }
  } catch (error) {
    if (error instanceof TorrentError) throw apiError('BAD_REQUEST', `torrent: ${error.message}.`, { cause: error })
    throw error
  }
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
