import { createBatcher } from '@vault-and-tracker/service-kit/core/batch'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { newEntry } from '../audit/audit.ts'
import type { Environments } from './environments.ts'
import { createPreparation } from './preparation.ts'
import {
  type Caller,
  costOf,
  type Fetch,
  type SecretStore,
  type Secrets,
  type Stale,
  type StorageLimits,
  type StoredValues,
} from './secrets.ts'
import { createThreadTurns } from './thread-turns.ts'

/**
 * Commits and round trips are most of what a fetch costs Postgres, and decryption most of what it costs the event loop.
 * So fetches under load share them, and wait a moment for others that are being verified; docs/performance.md has the
 * measurements.
 */
const SMALL = { concurrency: 4, maxBatchSize: 64, lingerMs: 8 }

/** From this cost on, an environment is fetched by itself and in its turn, so that others do not wait for it. */
const LARGE_COST = 256 * 1024
/** What is read at a time of large environments. While it is decrypted it takes some times as much memory. */
const LARGE_COST_AT_ONCE = 16 * 1024 ** 2
/** One statement has a row for each of its callers in the audit log. */
const MAX_SHARING = 256

/** An environment that is not known to be small may be as large as any: at most so much is written to it meanwhile. */
const COST_TTL_MS = 60_000
const MAX_KNOWN = 50_000

/** How much is decrypted, for all callers, before other requests have their turn: a few milliseconds. */
const TURN_COST = 256 * 1024
/** Comparing a secret with the code of its environment costs a fraction of decrypting it. */
const CODE_COST = 256

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
  /** Those of the largest environment. */
  limits: Pick<StorageLimits, 'environmentBytes' | 'secrets'>
}): BatchedFetch {
  const { store, decrypt, environments, clock, countPending, limits } = deps
  const prepare = createPreparation(LARGE_COST_AT_ONCE)
  const threadTurn = createThreadTurns(TURN_COST)
  const costs = new Map<string, { readonly cost: number; readonly until: number }>()
  const sharing = new Map<string, Sharing>()

  /** One value that does not decrypt fails them all: a variable that is silently missing is worse than an error. */
  async function present(caller: Caller, env: string, rows: StoredValues, total: number): Promise<Fetched | Stale> {
    const { values, stored } = rows
    await threadTurn(values.length * CODE_COST)
    environments.assertAuthentic({ projectUid: caller.projectUid, env, current: values, stored })
    const members: string[] = []
    for (const row of values) {
      const turn = threadTurn(costOf(row.blob.length, 1))
      if (turn !== undefined) await turn
      const decrypted = decrypt(caller, env, row)
      const value = typeof decrypted === 'string' ? decrypted : await decrypted
      if (value === undefined) return 'stale'
      members.push(`${JSON.stringify(row.key)}:${JSON.stringify(value)}`)
    }
    const json = `{${members.join(',')}}`
    // Each response would hold copies of a text until it is read.
    return { json: total < LARGE_COST ? json : Buffer.from(json) }
  }

  function noteCost(place: string, cost: number): void {
    costs.set(place, { cost, until: clock.now() + COST_TTL_MS })
    if (costs.size > MAX_KNOWN) costs.delete(costs.keys().next().value ?? '')
  }

  function costOfPlace(place: string): number {
    const known = costs.get(place)
    return known === undefined || known.until < clock.now()
      ? costOf(limits.environmentBytes, limits.secrets)
      : known.cost
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
      const cost = costOf(bytes, rows.values.length)
      // Not of environments that were never written: there is no end to their names.
      if (rows.stored !== undefined) noteCost(placeOf(caller, env), cost)
      const body = present(caller, env, rows, cost)
      presented.set(rows, body)
      return body
    })
  }

  const fetchSmall = createBatcher(readTogether, { ...SMALL, isReady: () => countPending() === 0 })

  /** Whoever asks before the turn of an environment has come shares its statement. */
  async function fetchLarge(place: string, cost: number, fetch: Fetch): Promise<Fetched | Stale> {
    const joined = sharing.get(place)
    if (joined !== undefined && joined.asked.length < MAX_SHARING) {
      const n = joined.asked.push(fetch) - 1
      const found = (await joined.results)[n]
      return found ?? 'stale'
    }
    const asked = [fetch]
    const results = prepare(fetch.caller.projectUid, cost, async () => {
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
    const cost = costOfPlace(place)
    return cost < LARGE_COST ? fetchSmall(asked) : fetchLarge(place, cost, asked)
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
