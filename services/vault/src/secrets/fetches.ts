import { createBatcher } from '@vault-and-tracker/service-kit/core/batch'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { ProjectCaller } from '../access/project-caller.ts'
import { type AuditStore, type EntryOfProject, type NewEntry, newEntry } from '../audit/audit.ts'
import { type AuthenticRows, effective } from '../integrity/rows.ts'
import { isTemplate } from '../keyring/envelope.ts'
import type { SourceValue } from '../references/references.ts'
import type { SignedRequests } from '../signed-requests/signed-requests.ts'
import { createDecryptionQueue, createThreadTurns } from './decryption-queue.ts'
import {
  CODE_COST,
  type CrossedReference,
  type Resolution,
  type ResolveReferences,
  sourceValue,
  TooCostly,
} from './resolution.ts'
import type { Stale, StorageLimits } from './secrets.ts'
import type { StoredValues, Values } from './values.ts'

/**
 * Commits, round trips to Postgres and decryption are most of the cost of a fetch. Fetches under load share them, and wait
 * a moment for those that are being verified; docs/performance.md has the measurements.
 */
const SMALL = { concurrency: 4, maxBatchSize: 64, lingerMs: 8 }

/** From this cost on, an environment is fetched separately and in its turn, so that others do not wait for it. */
const LARGE_COST = 256 * 1024
/** How much of large environments is read at a time. Decrypting it takes several times as much memory. */
const LARGE_COST_AT_ONCE = 16 * 1024 ** 2
/** A statement inserts an audit entry for each of its callers. */
const MAX_SHARING = 256

/** A known cost expires, because the environment may have grown since. */
const COST_TTL_MS = 60_000
const MAX_KNOWN = 50_000

/** How much is decrypted, for all callers, before other requests have their turn: a few milliseconds. */
const TURN_COST = 256 * 1024
/** Parsing a value with references takes several times as long as decrypting it. */
const TEMPLATE_COST = 8
/** The memory and time a secret costs in addition to its bytes, as a number of bytes. */
const ROW_COST = 2_048

/** Overridden values are read too. */
function costOfValues({ levels }: StoredValues): number {
  let cost = 0
  for (const { current } of levels)
    cost += costOf(
      current.reduce((sum, { blob }) => sum + blob.length, 0),
      current.length,
    )
  return cost
}

const costOf = (bytes: number, secrets: number): number => bytes + secrets * ROW_COST

/** A caller's request for all values of an environment, with its audit entry. */
export type Fetch = {
  readonly caller: ProjectCaller
  readonly env: string
  readonly now: Date
  readonly entry: NewEntry
}

/** Reads the values of environments. */
export type FetchStore = {
  /**
   * Returns all values of the environment of each caller, in order; callers with the same environment get the same object.
   * The audit entries are committed when the promise resolves.
   */
  readAll(fetches: readonly Fetch[]): Promise<readonly (StoredValues | Stale)[]>
}

/** All values of an environment as a JSON object, which is bytes if it is large and shared by all its callers. */
export type Fetched = {
  readonly json: string | Buffer
  /** What was read. */
  readonly read: StoredValues
}

type Result = Fetched | Stale

type Known = ReadonlyMap<string, SourceValue>

/** Fetches all values of an environment. */
export type Fetches = ReturnType<typeof createFetches>

/**
 * Concurrent callers share a statement, and those with the same environment also its decryption, because the instances of
 * an application start together. Decrypted values are not kept any longer.
 *
 * @param deps `limits` are those of the largest environment
 */
export function createFetches(deps: {
  store: FetchStore
  values: Pick<Values, 'decrypt'>
  resolve: ResolveReferences
  audit: Pick<AuditStore, 'append'>
  rows: Pick<AuthenticRows, 'assertInheritance'>
  signedRequests: Pick<SignedRequests, 'countPendingFetches'>
  clock: Clock
  limits: Pick<StorageLimits, 'environmentBytes' | 'secrets'>
}) {
  const { store, resolve, audit, values, rows, signedRequests, clock, limits } = deps
  /** The cost of an environment that is not known. */
  const largest = costOf(limits.environmentBytes, limits.secrets)
  const inTurn = createDecryptionQueue(LARGE_COST_AT_ONCE)
  const threadTurn = createThreadTurns(TURN_COST)
  const costs = new Map<string, { readonly cost: number; readonly until: number }>()
  const sharing = new Map<string, Sharing>()

  /** A value that does not decrypt fails the whole fetch: a silently missing variable would be worse. */
  async function present(
    sharing: readonly [Fetch, ...Fetch[]],
    found: StoredValues,
    { cost, isInTurn }: { readonly cost: number; readonly isInTurn: boolean },
  ): Promise<Result> {
    const { levels } = found
    const [first] = sharing
    const { caller } = first
    await threadTurn(levels.reduce((sum, { current }) => sum + current.length, 0) * CODE_COST)
    rows.assertInheritance(levels)
    const members: string[] = []
    const known = new Map<string, SourceValue>()
    const refers = levels.some(({ current }) => current.some(({ blob }) => isTemplate(blob)))
    for (const [env, row] of effective(levels)) {
      const bytes = row.blob.length * (isTemplate(row.blob) ? TEMPLATE_COST : 1)
      const turn = threadTurn(costOf(bytes, 1))
      if (turn !== undefined) await turn
      const decrypted = values.decrypt(caller, env, row)
      const value = typeof decrypted === 'string' ? decrypted : await decrypted
      if (value === undefined) return 'stale'
      if (refers) known.set(row.key, sourceValue(value, isTemplate(row.blob)))
      else members.push(memberOf(row.key, value))
    }
    let total = cost
    if (refers) {
      const resolved = await (isInTurn ? resolveAll(first, known) : resolveSmall(first, known))
      for (const [key, value] of resolved.values) {
        await threadTurn(value.length)
        members.push(memberOf(key, value))
      }
      total += resolved.cost
      noteCost(placeOf(first), total)
      await recordReferences(sharing, resolved.crossed)
    }
    const json = `{${members.join(',')}}`
    // Every response with a text would have its own copy until it is read.
    return { json: total < LARGE_COST ? json : Buffer.from(json), read: found }
  }

  function resolveAll({ caller, env }: Fetch, values: Known, options: { maxCost?: number } = {}): Promise<Resolution> {
    const project = { uid: caller.projectUid, name: caller.project }
    return resolve({ project, env }, { values, areAll: true }, options)
  }

  /** Short values may refer to many long ones, which are then read in turn. */
  async function resolveSmall(fetch: Fetch, values: Known): Promise<Resolution> {
    try {
      return await resolveAll(fetch, values, { maxCost: LARGE_COST })
    } catch (error) {
      if (!(error instanceof TooCostly)) throw error
      return inTurn(fetch.caller.projectUid, largest, () => resolveAll(fetch, values))
    }
  }

  /** Records each fetch in the log of every other project that it reads, before anything is sent. */
  async function recordReferences(fetches: readonly Fetch[], crossed: readonly CrossedReference[]): Promise<void> {
    const entryOf = ({ caller: { address } }: Fetch, { reader, target }: CrossedReference): EntryOfProject => {
      const by = { actor: `project:${reader.project.name}`, address }
      const entry = newEntry(clock, { action: 'reference', env: target.env, by, detail: { readerEnv: reader.env } })
      return { entry, project: target.project }
    }
    if (crossed.length > 0) await audit.append(fetches.flatMap((fetch) => crossed.map((each) => entryOf(fetch, each))))
  }

  function noteCost(place: string, cost: number): void {
    costs.set(place, { cost, until: clock.now() + COST_TTL_MS })
    if (costs.size > MAX_KNOWN) costs.delete(costs.keys().next().value ?? '')
  }

  function costOfPlace(place: string): number {
    const known = costs.get(place)
    return known === undefined || known.until < clock.now() ? largest : known.cost
  }

  async function readTogether(
    fetches: readonly Fetch[],
    isInTurn: boolean,
  ): Promise<readonly (Stale | Promise<Result>)[]> {
    const found = await store.readAll(fetches)
    const presented = new Map<StoredValues, { readonly fetches: Fetch[]; readonly result: Promise<Result> }>()
    return fetches.map((fetch, i) => {
      const stored = found[i]
      if (stored === undefined || stored === 'stale') return 'stale'
      const known = presented.get(stored)
      if (known !== undefined) {
        known.fetches.push(fetch)
        return known.result
      }
      const cost = costOfValues(stored)
      // The names of environments that were never written are unbounded.
      if (stored.levels[0]?.stored !== undefined) noteCost(placeOf(fetch), cost)
      const sharing: [Fetch, ...Fetch[]] = [fetch]
      const result = present(sharing, stored, { cost, isInTurn })
      presented.set(stored, { fetches: sharing, result })
      return result
    })
  }

  const fetchSmall = createBatcher((fetches: readonly Fetch[]) => readTogether(fetches, false), {
    ...SMALL,
    isReady: () => signedRequests.countPendingFetches() === 0,
  })

  /** Callers that arrive before the turn of their environment share its statement. */
  async function fetchLarge(place: string, cost: number, fetch: Fetch): Promise<Result> {
    const joined = sharing.get(place)
    if (joined !== undefined && joined.fetches.length < MAX_SHARING) {
      const n = joined.fetches.push(fetch) - 1
      return (await joined.results)[n] ?? 'stale'
    }
    const fetches = [fetch]
    const leave = (): void => {
      if (sharing.get(place)?.fetches === fetches) sharing.delete(place)
    }
    const results = inTurn(fetch.caller.projectUid, cost, async () => {
      leave()
      const read = await readTogether(fetches, true)
      await Promise.allSettled(read.filter((each) => each !== 'stale'))
      return read
    })
    sharing.set(place, { fetches, results })
    try {
      const [found] = await results
      return (await found) ?? 'stale'
    } finally {
      leave()
    }
  }

  return {
    /** Fetches all values of an environment of the caller's project. @throws ApiError decryption_failed, unavailable */
    fetch: (caller: ProjectCaller, env: string): Promise<Result> => {
      const entry = newEntry(clock, { action: 'fetch', env, by: caller })
      const fetch = { caller, env, now: new Date(clock.now()), entry }
      const place = placeOf(fetch)
      const cost = costOfPlace(place)
      return cost < LARGE_COST ? fetchSmall(fetch) : fetchLarge(place, cost, fetch)
    },
  }
}

/** Fetches of an environment that wait for its turn, and their results in order. */
type Sharing = {
  readonly fetches: Fetch[]
  readonly results: Promise<readonly (Stale | Promise<Result>)[]>
}

function memberOf(key: string, value: string): string {
  return `${JSON.stringify(key)}:${JSON.stringify(value)}`
}

function placeOf({ caller, env }: Fetch): string {
  return `${caller.projectUid}/${env}`
}
