import { BencodeWriter } from '../bencode/writer.ts'
import type { InfoHash } from '../ids.ts'

/** The counts of one torrent in a scrape. */
export type ScrapedTorrent = {
  readonly infoHash: InfoHash
  /** Seeders. */
  readonly complete: number
  /** Number of peers that completed the torrent. */
  readonly downloaded: number
  /** BEP 21: the incomplete peers that are downloading; the rest of `incomplete` are partial seeds. */
  readonly downloaders: number
  /** All other peers. */
  readonly incomplete: number
}

const FILES = Buffer.from('d5:filesd', 'latin1')
const COMPLETE = Buffer.from('d8:complete', 'latin1')
const DOWNLOADED = Buffer.from('10:downloaded', 'latin1')
const DOWNLOADERS = Buffer.from('11:downloaders', 'latin1')
const INCOMPLETE = Buffer.from('10:incomplete', 'latin1')
const FLAGS = Buffer.from('5:flagsd20:min_request_interval', 'latin1')
const END = Buffer.from('e', 'latin1')
const CAPACITY = 64
/** One torrent with counts of five digits. */
const TORRENT_CAPACITY = 110

/**
 * Encodes a reply to a scrape (BEP 21, 48): `files` by raw info hash in ascending order, and `flags` with
 * `min_request_interval`, the minimum seconds until the next scrape. The last of several entries for one torrent
 * counts.
 *
 * @throws {BencodeError} `not_encodable` if a number is not an integer from 0 to 2^53 - 1.
 */
export function scrapeReply(torrents: Iterable<ScrapedTorrent>, minRequestInterval: number): Buffer {
  const byHash = new Map<InfoHash, ScrapedTorrent>()
  for (const torrent of torrents) byHash.set(torrent.infoHash, torrent)
  const writer = new BencodeWriter(CAPACITY + byHash.size * TORRENT_CAPACITY)
  writer.raw(FILES)
  // Lower-case hex sorts like its bytes.
  for (const infoHash of [...byHash.keys()].sort()) {
    const torrent = byHash.get(infoHash)
    if (torrent === undefined) continue
    writer.hex(infoHash)
    writeCounts(writer, torrent)
  }
  writer.raw(END)
  writer.raw(FLAGS)
  writer.count(minRequestInterval)
  writer.raw(END)
  writer.raw(END)
  return writer.finish()
}

function writeCounts(writer: BencodeWriter, torrent: ScrapedTorrent): void {
  writer.raw(COMPLETE)
  writer.count(torrent.complete)
  writer.raw(DOWNLOADED)
  writer.count(torrent.downloaded)
  writer.raw(DOWNLOADERS)
  writer.count(torrent.downloaders)
  writer.raw(INCOMPLETE)
  writer.count(torrent.incomplete)
  writer.raw(END)
}
