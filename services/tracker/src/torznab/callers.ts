import { type Passkey, parsePasskey } from '@vault-and-tracker/bencode-tracker'
import type { BatcherOptions } from '@vault-and-tracker/service-kit/core/batch'
import { batchedLoader, createLookupCache, type Lookup } from '@vault-and-tracker/service-kit/core/cache'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { Account } from '../accounts/accounts.ts'
import type { Invalidation } from '../invalidation/invalidation.ts'

/** What a Torznab request needs to know of the user whose key it has. */
export type TorznabCaller = Pick<
  Account,
  'id' | 'role' | 'state' | 'apiBlocked' | 'canDownload' | 'passkey' | 'downloadPercent' | 'uploadPercent'
>

/** Where users are kept. @throws what `isUnavailable` recognises when Postgres is unavailable */
export type CallerStore = {
  byPasskeys(passkeys: readonly Passkey[]): Promise<ReadonlyMap<Passkey, TorznabCaller>>
}

/** Users by their keys; at once where they are cached, absences too. */
export type Callers = {
  /** @throws what `isUnavailable` recognises when Postgres is unavailable and nothing fresh is cached */
  byKey(apiKey: string): Lookup<TorznabCaller>
  /** Drops what a change made outdated. */
  forget(change: Invalidation): void
  /** Loads everything again when it is next looked up: changes may have been missed. */
  revalidateAll(): void
}

/** The bound on how long a lost invalidation has consequences. */
const TTL_MS = 300_000
const MAX_CALLERS = 100_000
/** Attackers try many keys, and an absence is cheap to look up again. */
const MAX_ABSENCES = 20_000
const BATCHES: BatcherOptions = { concurrency: 1, maxBatchSize: 500, lingerMs: 2, isReady: (waiting) => waiting >= 100 }

/** Users that are read many in one query and cached. */
export function createCallers({ store, clock }: { store: CallerStore; clock: Clock }): Callers {
  const cache = createLookupCache<Passkey, TorznabCaller>({
    load: batchedLoader((passkeys: readonly Passkey[]) => store.byPasskeys(passkeys), BATCHES),
    clock,
    maxValues: MAX_CALLERS,
    maxAbsences: MAX_ABSENCES,
    valueTtlMs: TTL_MS,
    absenceTtlMs: TTL_MS,
    serveStale: false,
  })
  return {
    byKey: (apiKey) => {
      const passkey = parsePasskey(apiKey)
      return passkey === undefined ? undefined : cache.get(passkey)
    },
    forget: (change) => {
      const passkey = change.kind === 'user' ? parsePasskey(change.passkey) : undefined
      if (passkey !== undefined) cache.forget(passkey)
    },
    revalidateAll: () => cache.revalidateAll(),
  }
}
