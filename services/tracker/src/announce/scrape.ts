import type { InfoHash, Passkey, ScrapedTorrent, ScrapeRequest } from '@vault-and-tracker/bencode-tracker'
import type { SwarmName, Swarms } from '../swarm/swarm.ts'
import type { AnnounceCounters } from './announce-counters.ts'
import type { Directory } from './directory.ts'
import type { FullScrape } from './full-scrape.ts'
import type { Identify, TrackerMode } from './identify.ts'
import type { Refusal, Refusals } from './refusal.ts'

/** The outcome of a scrape: a refusal, or the counts of the torrents asked for. */
export type ScrapeOutcome =
  | Refusal
  | {
      readonly failure: undefined
      readonly torrents: readonly ScrapedTorrent[]
      /** Seconds before which no scrape is welcome. */
      readonly minRequestInterval: number
    }

/** The scrapes of one tracker. */
export type Scrapes = {
  /**
   * Counts the peers of the torrents asked for, or of all where that is allowed. Unknown ones are left out; in open mode
   * every torrent is known.
   *
   * @throws what `isUnavailable` recognises when Postgres or Redis is needed and unavailable
   */
  scrape(request: ScrapeRequest, passkey: Passkey | undefined): Promise<ScrapeOutcome>
}

const MIN_REQUEST_INTERVAL = 600

type Known = { readonly infoHash: InfoHash; readonly name: SwarmName; readonly completed: number }

/** Creates the use case. */
export function createScrapes(options: {
  mode: TrackerMode
  identify: Identify
  directory: Directory
  swarms: Swarms
  refusals: Refusals
  counters: AnnounceCounters
  /** All torrents, where somebody may ask for them. */
  fullScrape?: FullScrape | undefined
}): Scrapes {
  const { mode, identify, directory, swarms, refusals, counters, fullScrape } = options

  const find = async (infoHash: InfoHash): Promise<Known | undefined> => {
    if (mode === 'open') return { infoHash, name: Buffer.from(infoHash, 'hex'), completed: 0 }
    const torrent = await directory.torrent(infoHash)
    if (torrent === undefined || torrent.state === 'deleted' || torrent.state === 'rejected') return undefined
    return { infoHash, name: torrent.swarm, completed: torrent.completed }
  }

  return {
    scrape: async (request, passkey) => {
      const user = await identify(passkey)
      if (typeof user === 'string') return refusals.refuse('scrape', user)
      if (request.infoHashes.length === 0) {
        if (fullScrape === undefined) return refusals.refuse('scrape', 'scrape_without_info_hash')
        const torrents = await fullScrape()
        counters.countScrape(torrents.length)
        return { failure: undefined, torrents, minRequestInterval: MIN_REQUEST_INTERVAL }
      }
      const known = (await Promise.all(request.infoHashes.map(find))).filter((torrent) => torrent !== undefined)
      const counts = await swarms.count(known)
      const torrents = known.flatMap(({ infoHash }, i) => {
        const count = counts[i]
        if (count === undefined) return []
        const { complete, incomplete, completed, paused } = count
        return [{ infoHash, complete, incomplete, downloaded: completed, downloaders: incomplete - paused }]
      })
      counters.countScrape(torrents.length)
      return { failure: undefined, torrents, minRequestInterval: MIN_REQUEST_INTERVAL }
    },
  }
}
