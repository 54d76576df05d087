import bencode from 'bencode'
import { assertCount } from '../bencode/writer.ts'

/** What a .torrent file is put together from. */
export type TorrentFileParts = {
  /** The exact bytes of the info dictionary, as `Torrent.infoSlice` has them. */
  readonly infoSlice: Uint8Array
  /** The exact bytes of `piece layers`, without which a version 2 or hybrid torrent is not valid (BEP 52). */
  readonly pieceLayersSlice?: Uint8Array | undefined
  readonly announceUrl: string
  /** Further tiers (BEP 12), tried in order after the announce URL; with them an `announce-list` is written. */
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
 * Writes a .torrent file (BEP 3, 12, 52) around an info dictionary that is not touched, so that the info hash stays.
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
  // `info` and `piece layers` come after every key of the head, so they go in front of its final `e`.
  const chunks = [head.subarray(0, -1), INFO_KEY, parts.infoSlice]
  if (pieceLayersSlice !== undefined) chunks.push(PIECE_LAYERS_KEY, pieceLayersSlice)
  return Buffer.concat([...chunks, END])
}
