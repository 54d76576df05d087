import { type InfoHash, type Passkey, parseInfoHash, parsePasskey } from '@vault-and-tracker/bencode-tracker'
import type { BatcherOptions } from '@vault-and-tracker/service-kit/core/batch'
import { batchedLoader, createLookupCache, type Lookup } from '@vault-and-tracker/service-kit/core/cache'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { ClientRules } from '../clients/client-rules.ts'
import type { Invalidation } from '../invalidation/invalidation.ts'
import type { SwarmName } from '../swarm/swarm.ts'

/** The share of a transfer that is credited, in per cent. */
export type Rates = { readonly uploadPercent: number; readonly downloadPercent: number }

/** The settings of the site that announces need. */
export type AnnounceSite = Rates & { readonly clients: ClientRules }

/** The fields of a user that announces and Torznab requests need, by passkey or by the announce key of a token. */
export type PasskeyUser = Rates & {
  readonly id: string
  /** The 16 bytes of the id. */
  readonly idBytes: Buffer
  /** The owner of the user's peers: the last 8 bytes of the id, which are random. */
  readonly owner: Buffer
  readonly state: 'active' | 'suspended' | 'banned'
  readonly role: 'member' | 'moderator' | 'admin'
  /** Whether they may announce as a leecher and get .torrent files. */
  readonly canDownload: boolean
  /** Whether they are blocked from the Torznab API. */
  readonly apiBlocked: boolean
  /** Whether the key opens the Torznab API. Announce keys never do. */
  readonly opensTorznab: boolean
  /** When the key expires, in milliseconds since the epoch. */
  readonly endsAt: number | undefined
  /** Announces per minute, 0 for no limit; null for the limit of the server. */
  readonly announceLimit: number | null
}

/** The fields of a torrent that announces need. */
export type AnnounceTorrent = Rates & {
  /** The 16 bytes of the id. */
  readonly id: Buffer
  readonly swarm: SwarmName
  /** All hashes that clients announce: a hybrid torrent has two (BEP 52). */
  readonly infoHashes: readonly InfoHash[]
  readonly state: 'pending' | 'approved' | 'rejected' | 'deleted'
  /** The reason given for its rejection or deletion. */
  readonly reason: string | null
  readonly completed: number
  /** The number of peers when this was read. */
  readonly peers: number
}

/**
 * Stores users and torrents. A deleted torrent is found for 30 days, unless it was uploaded again. All methods throw an
 * error that `isUnavailable` recognises if Postgres is unavailable.
 */
export type LookupStore = {
  /** Users by passkey or announce key. */
  users(passkeys: readonly Passkey[]): Promise<ReadonlyMap<Passkey, PasskeyUser>>
  torrents(infoHashes: readonly InfoHash[]): Promise<ReadonlyMap<InfoHash, AnnounceTorrent>>
  site(): Promise<AnnounceSite>
}

/**
 * Looks up users and torrents by passkey and info hash. Cached entries, including absences, are returned synchronously.
 * Lookups throw an error that `isUnavailable` recognises if Postgres is unavailable and no entry is cached.
 */
export type Lookups = {
  /** The user of a passkey, or of an announce key that has not expired. */
  user(passkey: Passkey): Lookup<PasskeyUser>
  torrent(infoHash: InfoHash): Lookup<AnnounceTorrent>
  site(): Lookup<AnnounceSite>
  /** Drops the entries that a change made outdated. */
  forget(change: Invalidation): void
  /** Reloads every entry on its next lookup, because changes may have been missed. */
  revalidateAll(): void
}

/** Entries are fresh for this long, which bounds the effect of a lost invalidation. */
const TTL_MS = 300_000
const MAX_USERS = 200_000
const MAX_TORRENTS = 500_000
/** Absences are many and cheap to look up again. */
const MAX_ABSENCES = 20_000
/** Planning a query costs more than looking up ten names, and after a restart every announce needs one. */
const BATCHES: BatcherOptions = { concurrency: 1, maxBatchSize: 500, lingerMs: 5, isReady: (waiting) => waiting >= 200 }
const GLOBAL = 'global'

/**
 * Creates the lookups, which load users and torrents in batches and cache them. They use outdated entries while Postgres is
 * unavailable.
 */
export function createLookups({ store, clock }: { store: LookupStore; clock: Clock }): Lookups {
  const common = { clock, maxAbsences: MAX_ABSENCES, valueTtlMs: TTL_MS, absenceTtlMs: TTL_MS, serveStale: true }
  const users = createLookupCache<Passkey, PasskeyUser>({
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
  const unlessEnded = (user: PasskeyUser | undefined): PasskeyUser | undefined =>
    user?.endsAt !== undefined && user.endsAt <= clock.now() ? undefined : user
  const site = createLookupCache<typeof GLOBAL, AnnounceSite>({
    ...common,
    load: () => store.site(),
    maxValues: 1,
  })
  return {
    user: (passkey) => {
      const found = users.get(passkey)
      return found instanceof Promise ? found.then(unlessEnded) : unlessEnded(found)
    },
    torrent: (infoHash) => torrents.get(infoHash),
    site: () => site.get(GLOBAL),
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
          site.forget(GLOBAL)
          break
        case 'expelled':
        case 'revoked':
        case 'categories':
        case 'torznab-settings':
          break
      }
    },
    revalidateAll: () => {
      users.revalidateAll()
      torrents.revalidateAll()
      site.revalidateAll()
    },
  }
}

/** Copies a text: a slice of a URL would keep the whole URL in memory. */
function copyOf(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}

/** The rates of a transfer: the best for the user among those of the torrent, the user and the site. */
export function bestOf(rates: readonly Rates[]): Rates {
  let [uploadPercent, downloadPercent] = [0, Number.POSITIVE_INFINITY]
  for (const each of rates) {
    if (each.uploadPercent > uploadPercent) uploadPercent = each.uploadPercent
    if (each.downloadPercent < downloadPercent) downloadPercent = each.downloadPercent
  }
  return { uploadPercent, downloadPercent }
}
