import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseReleaseName } from '../releases/release-name.ts'
import { type NameFields, nameFieldsOf } from '../releases/search-words.ts'

/** Increment it if the parsing of names changes, so that all stored names are indexed again. */
export const READER_VERSION = 3

/** Fifty names block the event loop for about 20 ms. */
const BATCH_SIZE = 50
/** Bounds one run, so that the service can stop without waiting for it. */
const MAX_PER_RUN = 1_000

/** The store of names that an older version has indexed. */
export type ReindexStore = {
  /**
   * Indexes names again in one transaction. Skips names that another process is indexing. A name that cannot be read
   * or stored keeps its old index, and does not affect the others.
   *
   * @returns the number of names found, and the errors of those that could not be indexed
   */
  reindex(options: {
    version: number
    limit: number
    read: (name: string) => NameFields
  }): Promise<{ readonly found: number; readonly unreadable: readonly { id: string; error: unknown }[] }>
}

/**
 * Creates the background task that indexes stored names again after an upgrade. Until then, lists and searches use the
 * old index.
 */
export function createReindex(deps: {
  store: ReindexStore
  /** Receives every name that could not be indexed. This version does not try it again. */
  onUnreadable?: (error: unknown, torrentId: string) => void
}): () => Promise<void> {
  const read = (name: string): NameFields => nameFieldsOf(name, parseReleaseName(name))
  return async () => {
    for (let done = 0; done < MAX_PER_RUN; done += BATCH_SIZE) {
      const { found, unreadable } = await deps.store.reindex({ version: READER_VERSION, limit: BATCH_SIZE, read })
      for (const { id, error } of unreadable) deps.onUnreadable?.(error, id)
      if (found < BATCH_SIZE) return
      await nextTurn()
    }
  }
}
