import { assertCount } from './bencode-text.ts'
import type { InfoHash } from './brand.ts'

/** What a scrape says about one torrent. */
export interface ScrapedTorrent {
  readonly infoHash: InfoHash
  /** Seeders. */
  readonly complete: number
  /** How many peers have ever completed the torrent. */
  readonly downloaded: number
  /** BEP 21: the incomplete peers that are downloading; the rest of `incomplete` are partial seeds. */
  readonly downloaders: number
  /** Everybody who is not a seeder. */
  readonly incomplete: number
}

/**
 * The bytes of a reply to a scrape (BEP 21, 48): `files` by raw info hash in ascending order, and `flags` with
 * `min_request_interval`, the seconds before which no scrape is welcome. Of two entries for one torrent the last
 * counts.
 *
 * @throws {BencodeError} `not_encodable` when a number is not an integer from 0 to 2^53 - 1.
 */
export function scrapeReply(torrents: Iterable<ScrapedTorrent>, minRequestInterval: number): Buffer {
  const byHash = new Map<InfoHash, ScrapedTorrent>()
  for (const torrent of torrents) byHash.set(torrent.infoHash, torrent)
  let files = ''
  // Lower-case hex sorts like the bytes it stands for.
  for (const infoHash of [...byHash.keys()].sort()) {
    const torrent = byHash.get(infoHash)
    if (torrent === undefined) continue
    files += `20:${Buffer.from(infoHash, 'hex').toString('latin1')}${countsText(torrent)}`
  }
  assertCount(minRequestInterval)
  return Buffer.from(`d5:filesd${files}e5:flagsd20:min_request_intervali${minRequestInterval}eee`, 'latin1')
}

function countsText({ complete, downloaded, downloaders, incomplete }: ScrapedTorrent): string {
  assertCount(complete)
  assertCount(downloaded)
  assertCount(downloaders)
  assertCount(incomplete)
  return (
    `d8:completei${complete}e10:downloadedi${downloaded}e` +
    `11:downloadersi${downloaders}e10:incompletei${incomplete}ee`
  )
}
