import { setImmediate as nextTurn } from 'node:timers/promises'
import { createBatcher } from '@vault-and-tracker/service-kit/batch'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { newEntry } from '../audit/audit.ts'
import type { Environments } from './environments.ts'
import type { Caller, Fetch, SecretStore, Secrets, Stale, StoredValue, StoredValues } from './secrets.ts'

/**
 * Commits and round trips are most of what a fetch costs Postgres, and decryption most of what it costs the event loop.
 * So fetches under load share them, and wait a moment for others that are being verified; docs/performance.md has the
 * measurements.
 */
const SMALL = { concurrency: 4, maxBatchSize: 64, lingerMs: 8 }

/** From this many bytes on, an environment is fetched in batches of its own, so that others do not wait for it. */
const LARGE_BYTES = 256 * 1024
const LARGE = { concurrency: 1, maxBatchSize: 64, lingerMs: 0, isReady: () => false }
const MAX_KNOWN_LARGE = 10_000

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
}): BatchedFetch {
  const { store, decrypt, environments, clock, countPending } = deps
  const large = new Set<string>()

  /** One value that does not decrypt fails them all: a variable that is silently missing is worse than an error. */
  async function present(caller: Caller, env: string, { values, stored }: StoredValues): Promise<Fetched | Stale> {
    environments.assertAuthentic({ projectUid: caller.projectUid, env, current: values, stored })
    const members: string[] = []
    let bytes = 0
    let total = 0
    for (const row of values) {
      const decrypted = decrypt(caller, env, row)
      const value = typeof decrypted === 'string' ? decrypted : await decrypted
      if (value === undefined) return 'stale'
      members.push(`${JSON.stringify(row.key)}:${JSON.stringify(value)}`)
      bytes += row.blob.length
      total += row.blob.length
      if (bytes > TURN_BYTES) {
        bytes = 0
        await nextTurn()
      }
    }
    const json = `{${members.join(',')}}`
    // Each response would hold copies of a text until it is read.
    return { json: total < LARGE_BYTES ? json : Buffer.from(json) }
  }

  /** Remembers which environments are large; the least recently fetched is forgotten first. */
  function noteSize(place: string, rows: readonly StoredValue[]): void {
    large.delete(place)
    if (rows.reduce((bytes, { blob }) => bytes + blob.length, 0) < LARGE_BYTES) return
    large.add(place)
    if (large.size > MAX_KNOWN_LARGE) large.delete(large.values().next().value ?? '')
  }

  async function readTogether(asked: readonly Fetch[]): Promise<readonly (Stale | Promise<Fetched | Stale>)[]> {
    const found = await store.readAll(asked)
    const presented = new Map<StoredValues, Promise<Fetched | Stale>>()
    return asked.map(({ caller, env }, i) => {
      const rows = found[i]
      if (rows === undefined || rows === 'stale') return 'stale'
      const known = presented.get(rows)
      if (known !== undefined) return known
      noteSize(placeOf(caller, env), rows.values)
      const body = present(caller, env, rows)
      presented.set(rows, body)
      return body
    })
  }

  const fetchSmall = createBatcher(readTogether, {
    ...SMALL,
    isReady: (waiting) => countPending() === 0 || waiting >= SMALL.maxBatchSize,
  })
  const fetchLarge = createBatcher(readTogether, LARGE)

  return (caller, env) => {
    const entry = newEntry(clock, { action: 'fetch', env, by: caller })
    const asked = { caller, env, now: new Date(clock.now()), entry }
    return large.has(placeOf(caller, env)) ? fetchLarge(asked) : fetchSmall(asked)
  }
}

function placeOf(caller: Caller, env: string): string {
  return `${caller.projectUid}/${env}`
}
