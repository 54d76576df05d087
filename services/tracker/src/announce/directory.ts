import { type InfoHash, type Passkey, parseInfoHash, parsePasskey } from '@vault-and-tracker/bencode-tracker'
import type { BatcherOptions } from '@vault-and-tracker/service-kit/batch'
import { batchedLoader, createLookupCache, type Lookup } from '@vault-and-tracker/service-kit/cache'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import type { Invalidation } from '../invalidation/invalidation.ts'
import type { SwarmName } from '../swarm/swarm.ts'

/** How much of what is transferred is credited, in per cent. */
export type Multipliers = { readonly uploadPercent: number; readonly downloadPercent: number }

/** What an announce needs to know of the user whom a passkey belongs to. */
export type AnnounceUser = Multipliers & {
  /** The 16 bytes of the id. */
  readonly id: Buffer
  /** What the announce limit counts by: the id as text. */
  readonly limitKey: string
  /** The last 8 bytes of the id, which are random: the owner of the user's peers. */
  readonly owner: Buffer
  readonly state: 'active' | 'suspended' | 'banned'
  /** Whether they may announce as a leecher. */
  readonly canDownload: boolean
}

/** What an announce needs to know of the torrent that an info hash belongs to. */
export type AnnounceTorrent = Multipliers & {
  /** The 16 bytes of the id. */
  readonly id: Buffer
  readonly swarm: SwarmName
  /** Every hash that clients announce it by: a hybrid has two (BEP 52). */
  readonly infoHashes: readonly InfoHash[]
  readonly state: 'pending' | 'approved' | 'rejected' | 'deleted'
  /** Why it was rejected or deleted. */
  readonly reason: string | null
  readonly completed: number
  /** How many peers there were when this was read. */
  readonly peers: number
}

/**
 * Where users and torrents are kept. A deleted torrent is found for 30 days, unless it was uploaded again. All methods
 * throw what `isUnavailable` recognises when Postgres is unavailable.
 */
export type DirectoryStore = {
  users(passkeys: readonly Passkey[]): Promise<ReadonlyMap<Passkey, AnnounceUser>>
  torrents(infoHashes: readonly InfoHash[]): Promise<ReadonlyMap<InfoHash, AnnounceTorrent>>
  siteMultipliers(): Promise<Multipliers>
}

/**
 * Users and torrents by what clients send; at once where they are cached, absences too. Lookups throw what `isUnavailable` recognises
 * when Postgres is unavailable and nothing is cached.
 */
export type Directory = {
  user(passkey: Passkey): Lookup<AnnounceUser>
  torrent(infoHash: InfoHash): Lookup<AnnounceTorrent>
  siteMultipliers(): Lookup<Multipliers>
  /** Drops what a change made outdated. */
  forget(change: Invalidation): void
  /** Loads everything again when it is next looked up: changes may have been missed. */
  revalidateAll(): void
}

/** How long an entry is fresh: the bound on how long a lost invalidation has consequences. */
const TTL_MS = 300_000
const MAX_USERS = 200_000
const MAX_TORRENTS = 500_000
/** Absences are many, and cheap to find again. */
const MAX_ABSENCES = 20_000
/** Planning a query costs more than finding ten names in it; after a restart every announce needs one. */
const BATCHES: BatcherOptions = { concurrency: 1, maxBatchSize: 500, lingerMs: 5, isReady: (waiting) => waiting >= 200 }
const GLOBAL = 'global'

/**
 * A directory that reads many users or torrents in one query and caches them. Outdated entries are used while Postgres
 * is unavailable.
 */
export function createDirectory({ store, clock }: { store: DirectoryStore; clock: Clock }): Directory {
  const common = { clock, maxAbsences: MAX_ABSENCES, valueTtlMs: TTL_MS, absenceTtlMs: TTL_MS, serveStale: true }
  const users = createLookupCache<Passkey, AnnounceUser>({
    ...common,
    load: batchedLoader((passkeys: readonly Passkey[]) => store.users(passkeys), BATCHES),
    maxValues: MAX_USERS,
    copyKey: (passkey) => parsePasskey(copyOf(passkey)) ?? passkey,
  })
  const torrents = createLookupCache<InfoHash, AnnounceTorrent>({
    ...common,
    load: batchedLoader((infoHashes: readonly InfoHash[]) => store.torrents(infoHashes), BATCHES),
    maxValues: MAX_TORRENTS,
    keysOf: (torrent) => torrent.infoHashes,
    copyKey: (infoHash) => parseInfoHash(copyOf(infoHash)) ?? infoHash,
  })
  const siteMultipliers = createLookupCache<typeof GLOBAL, Multipliers>({
    ...common,
    load: () => store.siteMultipliers(),
    maxValues: 1,
  })
  return {
    user: (passkey) => users.get(passkey),
    torrent: (infoHash) => torrents.get(infoHash),
    siteMultipliers: () => siteMultipliers.get(GLOBAL),
    forget: (change) => {
      switch (change.kind) {
        case 'user': {
          const passkey = parsePasskey(change.passkey)
          if (passkey !== undefined) users.forget(passkey)
          break
        }
        case 'torrent': {
          const infoHash = parseInfoHash(change.infoHash)
          if (infoHash !== undefined) torrents.forget(infoHash)
          break
        }
        case 'site-settings':
          siteMultipliers.forget(GLOBAL)
          break
        case 'expelled':
        case 'categories':
        case 'torznab-settings':
          break
      }
    },
    revalidateAll: () => {
      users.revalidateAll()
      torrents.revalidateAll()
      siteMultipliers.revalidateAll()
    },
  }
}

/** The same text in memory of its own: one cut out of a URL would keep all of the URL in memory. */
function copyOf(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}

/** Of all multipliers that apply to a transfer (the torrent's, the user's, the site's), the best for the user count. */
export function bestOf(multipliers: readonly Multipliers[]): Multipliers {
  let [uploadPercent, downloadPercent] = [0, Number.POSITIVE_INFINITY]
  for (const each of multipliers) {
    if (each.uploadPercent > uploadPercent) uploadPercent = each.uploadPercent
    if (each.downloadPercent < downloadPercent) downloadPercent = each.downloadPercent
  }
  return { uploadPercent, downloadPercent }
}
