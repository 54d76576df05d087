import type { FailureName, InfoHash, Passkey, ScrapedTorrent, ScrapeRequest } from '@vault-and-tracker/bencode-tracker'
import type { SwarmName, Swarms } from '../swarm/swarm.ts'
import type { Announces } from './announce.ts'
import type { Directory } from './directory.ts'

/** Scrapes of one tracker. */
export type Scrapes = {
  /**
   * Counts the peers of the torrents asked for. Unknown ones are left out; in open mode every torrent is known.
   *
   * @returns the torrents, or why the scrape is refused
   * @throws UnavailableError when Postgres or Redis had to be asked and is away
   */
  scrape(request: ScrapeRequest, passkey: Passkey | undefined): Promise<readonly ScrapedTorrent[] | FailureName>
}

type Known = { readonly infoHash: InfoHash; readonly name: SwarmName; readonly completed: number }

/** Creates the use case. */
export function createScrapes(options: {
  mode: 'private' | 'open'
  announces: Pick<Announces, 'identify'>
  directory: Directory
  swarms: Swarms
}): Scrapes {
  const { mode, announces, directory, swarms } = options

  const find = async (infoHash: InfoHash): Promise<Known | undefined> => {
    if (mode === 'open') return { infoHash, name: Buffer.from(infoHash, 'hex'), completed: 0 }
    const listing = await directory.listing(infoHash)
    if (listing === undefined || listing.state === 'deleted' || listing.state === 'rejected') return undefined
    return { infoHash, name: listing.swarm, completed: listing.completed }
  }

  return {
    scrape: async (request, passkey) => {
      const member = await announces.identify(passkey)
      if (typeof member === 'string') return member
      if (request.infoHashes.length === 0) return 'scrape_without_info_hash'
      const known = (await Promise.all(request.infoHashes.map(find))).filter((torrent) => torrent !== undefined)
      const counts = await swarms.count(known)
      return known.flatMap(({ infoHash }, i) => {
        const count = counts[i]
        if (count === undefined) return []
        const { complete, incomplete, completed, paused } = count
        return [{ infoHash, complete, incomplete, downloaded: completed, downloaders: incomplete - paused }]
      })
    },
  }
}
