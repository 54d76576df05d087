import type { InfoHash, Passkey, ScrapedTorrent, ScrapeParse, ScrapeRequest } from '@vault-and-tracker/bencode-tracker'
import type { SwarmName, Swarms } from '../swarm/swarm.ts'
import type { AnnounceCounters } from './announce-counters.ts'
import type { FullScrape } from './full-scrape.ts'
import type { CountLimit } from './limits.ts'
import type { Lookups } from './lookups.ts'
import { limitKeyOf } from './peer-endpoints.ts'
import type { Refusal, Refusals } from './refusal.ts'
import { type TrackerMode, torrentFailure, userFailure } from './rules.ts'

/** The outcome of a scrape: a refusal, or the counts of the requested torrents. */
export type ScrapeOutcome = Refusal | Scraped

/** The counts of the requested torrents. */
export type Scraped = {
  readonly failure: undefined
  /** Whether these are all torrents; then the list is the same for all clients of a moment. */
  readonly isFull: boolean
  readonly torrents: readonly ScrapedTorrent[]
  /** The minimum interval between scrapes, in seconds. */
  readonly minRequestInterval: number
}

/** Scrapes, for all transports. */
export type Scrapes = {
  /**
   * Counts the peers of the requested torrents, or of all torrents if allowed. Unknown torrents are omitted; in open mode
   * every torrent is known. Never rejects.
   *
   * @param parse the request, or the reason it could not be parsed
   * @param address the client's address, 4 or 16 bytes
   */
  scrape(parse: ScrapeParse, passkey: Passkey | undefined, address: Uint8Array): Promise<ScrapeOutcome>
}

const MIN_REQUEST_INTERVAL = 600

type Known = { readonly infoHash: InfoHash; readonly name: SwarmName; readonly completed: number }

/** Creates the scrapes of a tracker. */
export function createScrapes(options: {
  mode: TrackerMode
  lookups: Lookups
  /** Scrapes per address. */
  scrapeLimit: CountLimit
  /** Unknown passkeys per address. */
  passkeyLimit: CountLimit
  swarms: Pick<Swarms, 'count'>
  refusals: Refusals
  counters: AnnounceCounters
  /** Lists all torrents; undefined if clients may not request them. */
  fullScrape?: FullScrape | undefined
}): Scrapes {
  const { mode, lookups, scrapeLimit, passkeyLimit, swarms, refusals, counters, fullScrape } = options

  const check = async (passkey: Passkey | undefined, limitKey: string): Promise<Refusal | undefined> => {
    if (mode === 'open') return undefined
    if (passkey === undefined) return refusals.refuse('scrape', 'missing_passkey')
    const failure = userFailure(await lookups.user(passkey))
    if (failure === undefined) return undefined
    const wait = failure === 'unknown_passkey' ? await passkeyLimit.take(limitKey) : 0
    return wait > 0 ? refusals.refuseOverLimit('scrape', 'passkey_limit', wait) : refusals.refuse('scrape', failure)
  }

  const find = async (infoHash: InfoHash): Promise<Known | undefined> => {
    if (mode === 'open') return { infoHash, name: Buffer.from(infoHash, 'hex'), completed: 0 }
    const torrent = await lookups.torrent(infoHash)
    if (torrent === undefined || torrentFailure(torrent) !== undefined) return undefined
    return { infoHash, name: torrent.swarm, completed: torrent.completed }
  }

  const count = async ({ infoHashes }: ScrapeRequest): Promise<readonly ScrapedTorrent[]> => {
    const known = (await Promise.all(infoHashes.map(find))).filter((torrent) => torrent !== undefined)
    const counts = await swarms.count(known)
    return known.flatMap(({ infoHash }, i) => {
      const found = counts[i]
      if (found === undefined) return []
      const { complete, incomplete, completed, paused } = found
      return [{ infoHash, complete, incomplete, downloaded: completed, downloaders: incomplete - paused }]
    })
  }

  const carryOut = async (
    parse: ScrapeParse,
    passkey: Passkey | undefined,
    limitKey: string,
  ): Promise<ScrapeOutcome> => {
    const wait = await scrapeLimit.take(limitKey)
    if (wait > 0) return refusals.refuseOverLimit('scrape', 'scrape_limit', wait)
    if (!parse.ok) return refusals.refuse('scrape', parse.failure)
    const refusal = await check(passkey, limitKey)
    if (refusal !== undefined) return refusal
    const isFull = parse.request.infoHashes.length === 0
    if (isFull && fullScrape === undefined) return refusals.refuse('scrape', 'scrape_without_info_hash')
    const torrents = isFull && fullScrape !== undefined ? await fullScrape() : await count(parse.request)
    counters.countScrape(torrents.length)
    return { failure: undefined, isFull, torrents, minRequestInterval: MIN_REQUEST_INTERVAL }
  }

  return {
    scrape: (parse, passkey, address) =>
      carryOut(parse, passkey, limitKeyOf(address)).catch((error: unknown) => refusals.refuseError('scrape', error)),
  }
}
