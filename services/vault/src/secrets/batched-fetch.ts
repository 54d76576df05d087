import { setImmediate as nextTurn } from 'node:timers/promises'
import { createBatcher } from '@vault-and-tracker/service-kit/batch'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { newEntry } from '../audit/audit.ts'
import type { Environments } from './environments.ts'
import { createPreparation } from './preparation.ts'
import type { Caller, Fetch, SecretStore, Secrets, Stale, StoredValues } from './secrets.ts'

/**
 * Commits and round trips are most of what a fetch costs Postgres, and decryption most of what it costs the event loop.
 * So fetches under load share them, and wait a moment for others that are being verified; docs/performance.md has the
 * measurements.
 */
const SMALL = { concurrency: 4, maxBatchSize: 64, lingerMs: 8 }

/** From this many bytes on, an environment is fetched by itself and in its turn, so that others do not wait for it. */
const LARGE_BYTES = 256 * 1024
/** What is read at a time of large environments. While it is decrypted it takes some times as much memory. */
const LARGE_BYTES_AT_ONCE = 16 * 1024 ** 2
/** One statement has a row for each of its callers in the audit log. */
const MAX_SHARING = 256

/** An environment that is not known to be small may be as large as any: at most so much is written to it meanwhile. */
const SIZE_TTL_MS = 60_000
const MAX_KNOWN = 50_000

/** How much is decrypted before other requests have their turn. */
const TURN_BYTES = 256 * 1024

/** All values of an environment, as the text of a JSON object; that of a large one as bytes, which its callers share. */
export type Fetched = { readonly json: string | Buffer }

/** Fetches all values of the caller's project in an environment. */
export type BatchedFetch = (caller: Caller, env: string) => Promise<Fetched | Stale>

/**
 * All callers of one moment share a statement, and those among them that ask for the same environment of the same
 * project share its decryption: when a hundred instances of an application start, they start together. Nothing
 * decrypted is kept beyond that.
 */
export function createBatchedFetch(deps: {
  store: Pick<SecretStore, 'readAll'>
  decrypt: Secrets['decrypt']
  environments: Pick<Environments, 'assertAuthentic'>
  clock: Clock
  /** How many fetches are being verified. A batch waits a moment for them instead of starting without them. */
  countPending: () => number
  /** The size of the largest environment. */
  environmentBytes: number
}): BatchedFetch {
  const { store, decrypt, environments, clock, countPending, environmentBytes } = deps
  const prepare = createPreparation(LARGE_BYTES_AT_ONCE)
  const sizes = new Map<string, { readonly bytes: number; readonly until: number }>()
  const sharing = new Map<string, Sharing>()

  /** One value that does not decrypt fails them all: a variable that is silently missing is worse than an error. */
  async function present(caller: Caller, env: string, rows: StoredValues, total: number): Promise<Fetched | Stale> {
    const { values, stored } = rows
    environments.assertAuthentic({ projectUid: caller.projectUid, env, current: values, stored })
    const members: string[] = []
    let bytes = 0
    for (const row of values) {
      const decrypted = decrypt(caller, env, row)
      const value = typeof decrypted === 'string' ? decrypted : await decrypted
      if (value === undefined) return 'stale'
      members.push(`${JSON.stringify(row.key)}:${JSON.stringify(value)}`)
      bytes += row.blob.length
      if (bytes > TURN_BYTES) {
        bytes = 0
        await nextTurn()
      }
    }
    const json = `{${members.join(',')}}`
    // Each response would hold copies of a text until it is read.
    return { json: total < LARGE_BYTES ? json : Buffer.from(json) }
  }

  function noteSize(place: string, bytes: number): void {
    sizes.set(place, { bytes, until: clock.now() + SIZE_TTL_MS })
    if (sizes.size > MAX_KNOWN) sizes.delete(sizes.keys().next().value ?? '')
  }

  function sizeOf(place: string): number {
    const known = sizes.get(place)
    return known === undefined || known.until < clock.now() ? environmentBytes : known.bytes
  }

  async function readTogether(asked: readonly Fetch[]): Promise<readonly (Stale | Promise<Fetched | Stale>)[]> {
    const found = await store.readAll(asked)
    const presented = new Map<StoredValues, Promise<Fetched | Stale>>()
    return asked.map(({ caller, env }, i) => {
      const rows = found[i]
      if (rows === undefined || rows === 'stale') return 'stale'
      const known = presented.get(rows)
      if (known !== undefined) return known
      const bytes = rows.values.reduce((sum, { blob }) => sum + blob.length, 0)
      // Not of environments that were never written: there is no end to their names.
      if (rows.stored !== undefined) noteSize(placeOf(caller, env), bytes)
      const body = present(caller, env, rows, bytes)
      presented.set(rows, body)
      return body
    })
  }

  const fetchSmall = createBatcher(readTogether, { ...SMALL, isReady: () => countPending() === 0 })

  /** Whoever asks before the turn of an environment has come shares its statement. */
  async function fetchLarge(place: string, bytes: number, fetch: Fetch): Promise<Fetched | Stale> {
    const joined = sharing.get(place)
    if (joined !== undefined && joined.asked.length < MAX_SHARING) {
      const n = joined.asked.push(fetch) - 1
      const found = (await joined.results)[n]
      return found ?? 'stale'
    }
    const asked = [fetch]
    const results = prepare(fetch.caller.projectUid, bytes, async () => {
      if (sharing.get(place)?.asked === asked) sharing.delete(place)
      const read = await readTogether(asked)
      await Promise.allSettled(read.filter((each) => each !== 'stale'))
      return read
    })
    sharing.set(place, { asked, results })
    try {
      const [found] = await results
      return (await found) ?? 'stale'
    } finally {
      if (sharing.get(place)?.asked === asked) sharing.delete(place)
    }
  }

  return (caller, env) => {
    const entry = newEntry(clock, { action: 'fetch', env, by: caller })
    const asked = { caller, env, now: new Date(clock.now()), entry }
    const place = placeOf(caller, env)
    const bytes = sizeOf(place)
    return bytes < LARGE_BYTES ? fetchSmall(asked) : fetchLarge(place, bytes, asked)
  }
}

/** Fetches of one environment that wait for its turn, and what they get, in their order. */
type Sharing = {
  readonly asked: Fetch[]
  readonly results: Promise<readonly (Stale | Promise<Fetched | Stale>)[]>
}

function placeOf(caller: Caller, env: string): string {
  return `${caller.projectUid}/${env}`
}
