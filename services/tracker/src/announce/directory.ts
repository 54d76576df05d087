import { type InfoHash, type Passkey, parseInfoHash, parsePasskey } from '@vault-and-tracker/bencode-tracker'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import type { Invalidation } from '../invalidation/invalidation.ts'
import { createCache, type Lookup } from './lookup-cache.ts'

/** What an announce needs to know of the user a passkey belongs to. */
export type Member = {
  /** The 16 bytes of the id. */
  readonly id: Buffer
  /** The same as text. */
  readonly key: string
  /** The last 8 of them, which are random: who a peer belongs to. */
  readonly owner: Buffer
  readonly state: 'active' | 'suspended' | 'banned'
  /** Whether he may announce as a leecher. */
  readonly canDownload: boolean
  readonly uploadPercent: number
  readonly downloadPercent: number
}

/** What an announce needs to know of the torrent an info hash belongs to. */
export type Listing = {
  /** The 16 bytes of the id. */
  readonly id: Buffer
  /** The hash that names the swarm: of a hybrid's two, the first (BEP 52). */
  readonly swarm: Buffer
  /** Every hash that clients announce it by. */
  readonly infoHashes: readonly InfoHash[]
  readonly state: 'pending' | 'approved' | 'rejected' | 'deleted'
  /** Why it was rejected or deleted. */
  readonly reason: string | null
  readonly completed: number
  /** How many peers there were when this was read. */
  readonly peers: number
  readonly uploadPercent: number
  readonly downloadPercent: number
}

/** What holds for the whole site. */
export type SitePercents = { readonly uploadPercent: number; readonly downloadPercent: number }

/** Where users and torrents are kept. A deleted torrent is found for 30 days, unless it was uploaded again. */
export type DirectoryStore = {
  members(passkeys: readonly Passkey[]): Promise<ReadonlyMap<Passkey, Member>>
  listings(infoHashes: readonly InfoHash[]): Promise<ReadonlyMap<InfoHash, Listing>>
  sitePercents(): Promise<SitePercents>
}

/** Users and torrents by what clients send; at once where they are cached, absences too. */
export type Directory = {
  member(passkey: Passkey): Lookup<Member>
  listing(infoHash: InfoHash): Lookup<Listing>
  site(): Lookup<SitePercents>
  /** Forgets what a change made untrue. */
  forget(change: Invalidation): void
  /** Looks everything up again, by and by: changes may have been missed. */
  doubtEverything(): void
}

/** How long an entry is trusted without asking again: the net under the invalidations. */
const TRUST_MS = 300_000
const MEMBERS = 200_000
const LISTINGS = 500_000
const SITE = 'site'

/** A directory that asks the store once for many and remembers the answers. */
export function createDirectory(options: { store: DirectoryStore; clock: Clock }): Directory {
  const { store, clock } = options
  const common = { clock, trustMs: TRUST_MS }
  const members = createCache<Passkey, Member>({
    ...common,
    size: MEMBERS,
    load: (passkeys) => store.members(passkeys),
    namesOf: (_member, asked) => [asked],
    own: (passkey) => parsePasskey(copyOf(passkey)) ?? passkey,
  })
  const listings = createCache<InfoHash, Listing>({
    ...common,
    size: LISTINGS,
    load: (infoHashes) => store.listings(infoHashes),
    namesOf: (listing) => listing.infoHashes,
    own: (infoHash) => parseInfoHash(copyOf(infoHash)) ?? infoHash,
  })
  const sites = createCache<typeof SITE, SitePercents>({
    ...common,
    size: 1,
    load: async () => new Map([[SITE, await store.sitePercents()]]),
    namesOf: () => [SITE],
    own: (name) => name,
  })
  return {
    member: (passkey) => members.get(passkey),
    listing: (infoHash) => listings.get(infoHash),
    site: () => sites.get(SITE),
    forget: (change) => {
      switch (change.kind) {
        case 'user': {
          const passkey = parsePasskey(change.passkey)
          if (passkey !== undefined) members.forget(passkey)
          break
        }
        case 'torrent': {
          const infoHash = parseInfoHash(change.infoHash)
          if (infoHash !== undefined) listings.forget(infoHash)
          break
        }
        case 'site':
          sites.forget(SITE)
          break
      }
    },
    doubtEverything: () => {
      members.doubt()
      listings.doubt()
      sites.doubt()
    },
  }
}

/** The same text in memory of its own. */
function copyOf(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}
