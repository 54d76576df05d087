import { infoHashFromBytes, type ScrapedTorrent } from '@vault-and-tracker/bencode-tracker'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { SwarmCounts, SwarmName, Swarms } from '../swarm/swarm.ts'

/** A reply with this many torrents is about half a megabyte. */
const MAX_TORRENTS = 5_000
/** Clients are asked to repeat a full scrape after ten minutes, so a list one minute old is recent enough. */
const FRESH_MS = 60_000

/** Lists the torrents that have peers, the same list for all requests within a minute. */
export type FullScrape = () => Promise<readonly ScrapedTorrent[]>

/**
 * Creates the full scrape: bounded, and computed at most once a minute for all clients.
 *
 * @param options `names` returns at most the given number of swarm names
 */
export function createFullScrape(options: {
  names: (limit: number) => Promise<readonly SwarmName[]>
  swarms: Pick<Swarms, 'count'>
  clock: Clock
}): FullScrape {
  const { names, swarms, clock } = options
  let made: { readonly at: number; readonly torrents: Promise<readonly ScrapedTorrent[]> } | undefined

  async function make(): Promise<readonly ScrapedTorrent[]> {
    const all = await names(MAX_TORRENTS)
    const counts = await swarms.count(all.map((name) => ({ name, completed: 0 })))
    return all.flatMap((name, i) => scraped(name, counts[i]))
  }

  return () => {
    const now = clock.now()
    if (made !== undefined && Math.abs(now - made.at) < FRESH_MS) return made.torrents
    const torrents = make()
    const mine = { at: now, torrents }
    made = mine
    // The next request tries again after a failure.
    torrents.catch(() => {
      if (made === mine) made = undefined
    })
    return torrents
  }
}

function scraped(name: SwarmName, count: SwarmCounts | undefined): readonly ScrapedTorrent[] {
  const infoHash = infoHashFromBytes(name)
  if (infoHash === undefined || count === undefined) return []
  const { complete, incomplete, completed, paused } = count
  if (complete + incomplete === 0) return []
  return [{ infoHash, complete, incomplete, downloaded: completed, downloaders: incomplete - paused }]
}
