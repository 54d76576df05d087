import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ParsedRelease, Release } from '../releases/release.ts'
import { parseReleaseName } from '../releases/release-name.ts'
import { releaseTokens } from '../releases/search-words.ts'

/** What is derived of a name: the release as it was read, and the words of the search index. */
export type NameFields = { readonly name: string; readonly release: Release; readonly tokens: readonly string[] }

/** Counted up when names are read in a new way, so that all names that are there already are read again. */
export const READER_VERSION = 1

/** Fifty names take about 20 ms, for which nothing else is done. */
const AT_ONCE = 50
/** In one run, so that a service that stops does not wait. */
const MOST = 1_000

/** A name with what is derived of it. */
export function namedAs(name: string, release: ParsedRelease): NameFields {
  return { name, release, tokens: releaseTokens(name, release) }
}

/** The store of names that an older version of the reader read. */
export type RereadStore = {
  /**
   * Reads names again, in one transaction. Names that another process reads at the moment are left to it.
   *
   * @returns how many there were
   */
  reread(options: { version: number; limit: number; read: (name: string) => NameFields }): Promise<number>
}

/**
 * Makes the background task that reads names again after an upgrade. What lists and searches knew before, they know
 * meanwhile.
 */
export function createReread(deps: { store: RereadStore }): () => Promise<void> {
  const read = (name: string): NameFields => namedAs(name, parseReleaseName(name))
  return async () => {
    for (let done = 0; done < MOST; done += AT_ONCE) {
      const found = await deps.store.reread({ version: READER_VERSION, limit: AT_ONCE, read })
      if (found < AT_ONCE) return
      await nextTurn()
    }
  }
}
