import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseReleaseName } from '../releases/release-name.ts'
import { type NameFields, nameFieldsOf } from '../releases/search-words.ts'

/** Incremented when the reading of names changes, so that all stored names are read again. */
export const READER_VERSION = 2

/** Fifty names block the event loop for about 20 ms. */
const BATCH_SIZE = 50
/** Bounds one run, so that a service that stops does not wait for it. */
const MAX_PER_RUN = 1_000

/** The store of names that an older version has read. */
export type RereadStore = {
  /**
   * Reads names again, in one transaction. Names that another process is reading are skipped. Of a name that cannot be
   * read or stored, what the older version has read stays, and the others are read all the same.
   *
   * @returns how many there were, and the errors of those that could not be read
   */
  reread(options: {
    version: number
    limit: number
    read: (name: string) => NameFields
  }): Promise<{ readonly found: number; readonly unreadable: readonly { id: string; error: unknown }[] }>
}

/**
 * Creates the background task that reads stored names again after an upgrade. Until then, lists and searches use what
 * the older version has read.
 */
export function createReread(deps: {
  store: RereadStore
  /** Gets every name that could not be read; it is not tried again by this version. */
  onUnreadable?: (error: unknown, torrentId: string) => void
}): () => Promise<void> {
  const read = (name: string): NameFields => nameFieldsOf(name, parseReleaseName(name))
  return async () => {
    for (let done = 0; done < MAX_PER_RUN; done += BATCH_SIZE) {
      const { found, unreadable } = await deps.store.reread({ version: READER_VERSION, limit: BATCH_SIZE, read })
      for (const { id, error } of unreadable) deps.onUnreadable?.(error, id)
      if (found < BATCH_SIZE) return
      await nextTurn()
    }
  }
}
