/**
 * The Redis channel of invalidations. Channels are shared by the logical databases of a server, so the name has the
 * database: trackers that share a Redis server get only their own.
 */
export function invalidationChannel(database: number): string {
  return `tracker:invalidate:${database}`
}

/**
 * What changed. The announce engine caches users by passkey and torrents by info hash, absences too; a message names
 * the entry to forget. `infoHash` and `passkey` are 40 lower-case hex digits. `site-settings` stands for the
 * settings of the whole site, `categories` for their tree, `torznab-settings` for the settings of the Torznab API.
 * `expelled` names a user whose peers have to leave their swarms.
 */
export type Invalidation =
  | { readonly kind: 'user'; readonly passkey: string }
  | { readonly kind: 'torrent'; readonly infoHash: string }
  | { readonly kind: 'expelled'; readonly userId: string }
  | { readonly kind: 'site-settings' }
  | { readonly kind: 'categories' }
  | { readonly kind: 'torznab-settings' }

/**
 * Publishes changes to all replicas. Called after the change is committed, so that whoever reads again reads the new
 * state. Never fails: without Redis no announce is answered, and subscribers revalidate their caches when they
 * reconnect.
 */
export type PublishInvalidation = (...changes: readonly Invalidation[]) => Promise<void>

/** What a subscriber does with invalidations. */
export type InvalidationHandlers = {
  readonly onChange: (change: Invalidation) => void
  /** Called when messages may have been missed, once the subscription works again. */
  readonly onMissed: () => void
}
