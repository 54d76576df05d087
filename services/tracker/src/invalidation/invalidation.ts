import { createLookupCache } from '@vault-and-tracker/service-kit/core/cache'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'

/**
 * The Redis channel of invalidations. Logical databases of a server share its channels, so the name includes the
 * database: trackers on the same Redis server receive only their own messages.
 */
export function invalidationChannel(database: number): string {
  return `tracker:invalidate:${database}`
}

/**
 * A change that caches have to forget. The announce engine caches users by passkey or announce key and torrents by info
 * hash, including unknown ones. `infoHash` and `passkey` are 40 lowercase hex digits. `expelled` names a user whose peers
 * must be removed from their swarms, and `revoked` one whose API token was revoked.
 */
export type Invalidation =
  | { readonly kind: 'user'; readonly passkey: string }
  | { readonly kind: 'torrent'; readonly infoHash: string }
  | { readonly kind: 'expelled' | 'revoked'; readonly userId: string }
  | { readonly kind: 'site-settings' }
  | { readonly kind: 'categories' }
  | { readonly kind: 'torznab-settings' }

/**
 * Publishes changes to all replicas. Call it after the commit, so that caches reload the new state. Never fails: without
 * Redis no announce succeeds anyway, and subscribers revalidate their caches after reconnecting.
 */
export type PublishInvalidation = (...changes: readonly Invalidation[]) => Promise<void>

/** The change of the users of passkeys and announce keys. Null is a token without an announce key. */
export function changedKeys(keys: readonly (string | null)[]): readonly Invalidation[] {
  return keys.flatMap((passkey) => (passkey === null ? [] : [{ kind: 'user', passkey } as const]))
}

/** A subscriber to invalidations. */
export type InvalidationHandlers = {
  readonly onChange: (change: Invalidation) => void
  /** Called after messages may have been missed, once the subscription works again. */
  readonly onMissed: () => void
}

/**
 * Delivers changes by any process to every cache of this process, over one connection. Changes by this process are
 * delivered immediately, so that a client reads the value it has just changed.
 */
export type Invalidations = {
  readonly publish: PublishInvalidation
  /** Adds a cache, which receives subsequent changes. */
  addCache(cache: InvalidationHandlers): void
}

/** The bound on the effect of a lost invalidation. */
const TTL_MS = 30_000

/**
 * Caches the only value of a source. A change of one of these kinds drops it on all replicas.
 *
 * @param options `serveStale` is that of `createLookupCache`
 * @returns reads the value; throws the error of `load` if nothing is cached
 */
export function cachedValue<Value>(options: {
  load: () => Promise<Value>
  changedBy: readonly Invalidation['kind'][]
  invalidations: Pick<Invalidations, 'addCache'>
  clock: Clock
  serveStale: boolean
}): () => Promise<Value> {
  const { load, changedBy, invalidations, clock, serveStale } = options
  const cache = createLookupCache<'value', Value>({
    ...{ load, clock, serveStale, valueTtlMs: TTL_MS, absenceTtlMs: 0, maxValues: 1, maxAbsences: 1 },
  })
  invalidations.addCache({
    onChange: ({ kind }) => {
      if (changedBy.includes(kind)) cache.forget('value')
    },
    onMissed: () => cache.revalidateAll(),
  })
  return async () => (await cache.get('value')) ?? load()
}

/** Checks what a user without access has open, or what all have open after messages may have been missed. */
export function whenRevoked(check: (userId?: string) => Promise<void>): InvalidationHandlers {
  return {
    onChange: (change) => {
      if (change.kind === 'expelled' || change.kind === 'revoked') void check(change.userId)
    },
    onMissed: () => void check(),
  }
}
