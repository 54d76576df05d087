import { buildTorrentFile, prepareUpload, TorrentError } from '@vault-and-tracker/bencode-tracker'
import { apiError } from '../errors.ts'

/** Largest .torrent that is read: enough for several terabytes in pieces of 16 MiB. */
export const MAX_TORRENT_BYTES = 10 * 1024 * 1024

/** What a torrent is made of, as we keep and hand it out. */
export type TorrentContent = {
  /** 40 lower-case hex digits, of BEP 3, or the truncated one of BEP 52 for a pure v2 torrent. */
  readonly infoHash: string
  /** The truncated second hash of a hybrid torrent. */
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
 * Reads an uploaded .torrent and makes it ours: private (BEP 27), marked with `source`, hashes taken after.
 *
 * @throws ApiError BAD_REQUEST saying what is wrong with the file
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

/** The .torrent to hand out; the info dictionary goes in byte for byte, so its hash stays. */
export function writeTorrentFile(
  content: Pick<TorrentContent, 'info' | 'pieceLayers'>,
  outer: { announceUrl: string; comment: string; createdAt: Date },
): Buffer {
  return buildTorrentFile({
    infoSlice: content.info,
    pieceLayersSlice: content.pieceLayers ?? undefined,
    announceUrl: outer.announceUrl,
    comment: outer.comment,
    creationDate: Math.floor(outer.createdAt.getTime() / 1_000),
  })
}

/** A folder's name may hold anything; what is listed and searched has no control characters and an end. */
function displayName(name: string): string {
  const shown = Array.from(name.replace(/\p{C}/gu, ' ').trim()).slice(0, 255).join('')
  return shown === '' ? 'unnamed' : shown
}
