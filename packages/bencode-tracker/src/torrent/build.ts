import bencode from 'bencode'
import { assertCount } from '../bencode/writer.ts'

/** The parts of a .torrent file. */
export type TorrentFileParts = {
  /** The exact bytes of the info dictionary, as in `Torrent.infoSlice`. */
  readonly infoSlice: Uint8Array
  /** The exact bytes of `piece layers`, without which a version 2 or hybrid torrent is not valid (BEP 52). */
  readonly pieceLayersSlice?: Uint8Array | undefined
  readonly announceUrl: string
  /** Further tiers (BEP 12), which clients try in order after the announce URL. They are written as `announce-list`. */
  readonly furtherTiers?: readonly (readonly string[])[] | undefined
  readonly comment?: string | undefined
  readonly createdBy?: string | undefined
  /** Seconds since 1970. */
  readonly creationDate?: number | undefined
  readonly encoding?: string | undefined
}

const INFO_KEY = Buffer.from('4:info', 'latin1')
const PIECE_LAYERS_KEY = Buffer.from('12:piece layers', 'latin1')
const END = Buffer.from('e', 'latin1')

/**
 * Writes a .torrent file (BEP 3, 12, 52). The info dictionary is copied unchanged, so that the info hash stays the
 * same.
 *
 * @throws {BencodeError} `not_encodable` when `creationDate` is not an integer from 0 to 2^53 - 1.
 */
export function buildTorrentFile(parts: TorrentFileParts): Buffer {
  const { announceUrl, comment, createdBy, creationDate, encoding, furtherTiers = [], pieceLayersSlice } = parts
  if (creationDate !== undefined) assertCount(creationDate)
  const head = bencode.encode({
    announce: announceUrl,
    // null and undefined are left out.
    'announce-list': furtherTiers.length > 0 ? [[announceUrl], ...furtherTiers] : undefined,
    comment,
    'created by': createdBy,
    'creation date': creationDate,
    encoding,
  })
  // `info` and `piece layers` sort after all keys of the head, so they are inserted before its final `e`.
  const chunks = [head.subarray(0, -1), INFO_KEY, parts.infoSlice]
  if (pieceLayersSlice !== undefined) chunks.push(PIECE_LAYERS_KEY, pieceLayersSlice)
  return Buffer.concat([...chunks, END])
}
