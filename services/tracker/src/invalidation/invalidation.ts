/**
 * The Redis channel that carries invalidations. Channels know no logical databases, so its name does: trackers that
 * share a Redis server hear only their own.
 */
export function invalidationChannel(database: number): string {
  return `tracker:invalidate:${database}`
}

/**
 * What changed. The announce engine caches users by passkey and torrents by info hash, absences too; a message names
 * the entry to forget. `infoHash` and `passkey` are 40 lower-case hex digits.
 */
export type Invalidation =
  | { readonly kind: 'user'; readonly passkey: string }
  | { readonly kind: 'torrent'; readonly infoHash: string }
  | { readonly kind: 'site' }

/**
 * Tells all replicas. Called after the change is committed, so whoever reads again reads the new state. It never
 * fails: a Redis that is away also stops announces, and subscribers drop their caches when they reconnect.
 */
export type PublishInvalidation = (...changes: readonly Invalidation[]) => Promise<void>
