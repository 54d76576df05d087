import { createHash } from 'node:crypto'
import { effective, type StoredEnvironment } from '../integrity/rows.ts'

/** The keys of an environment, including inherited ones, with what identifies their current values. */
export type EnvironmentState = {
  /** Differs whenever the environment or one of its ancestors differs. */
  readonly version: string
  /** The codes of the rows of the environment and its ancestors; null if no secret was ever put there. */
  readonly codes: Buffer | null
  /** The version of an own value; of an inherited one, also its environment; of one with references, everything. */
  readonly keys: ReadonlyMap<string, number | string>
  /** The environments from which it inherits, and those that values refer to. */
  readonly reads: readonly { readonly projectUid: string; readonly env: string }[]
  /** Undefined if no value refers to others. */
  readonly references: StateReferences | undefined
}

/** An environment that others read; its code is null if it does not exist. */
export type ReferredPlace = { readonly projectUid: string; readonly env: string; readonly code: Buffer | null }

/** What values of an environment refer to, in any number of steps, and the keys of these values. They are hints. */
export type StateReferences = {
  readonly places: readonly ReferredPlace[]
  readonly keys: readonly { readonly env: string; readonly key: string }[]
}

/** What changed from one version of an environment to the next known one. */
type Step = { readonly from: string; readonly changed: readonly string[] }

type Known = { readonly state: EnvironmentState; readonly steps: readonly Step[] }

/** A client asks again within milliseconds of an answer, so it is a few changes behind at most. */
const MAX_STEPS = 20

/** Keys of all environments, and the environments they read. They take about 100 bytes each. */
const MAX_KEYS = 50_000

/** The state of an environment as it was read. */
export function stateOf(levels: readonly StoredEnvironment[], references?: StateReferences): EnvironmentState {
  const [own, ...ancestors] = levels
  const revision = own?.stored?.revision
  const codes =
    revision === undefined ? null : Buffer.concat(levels.map(({ stored }) => stored?.code ?? Buffer.alloc(0)))
  const version = versionOf(revision, codes, references)
  const referring = new Set(references?.keys.map(({ env, key }) => `${env}/${key}`))
  const keys = new Map<string, number | string>()
  for (const [env, row] of effective(levels)) {
    const inherited = env === own?.env ? row.version : `${env}/${String(row.version)}`
    keys.set(row.key, referring.has(`${env}/${row.key}`) ? version : inherited)
  }
  return { version, codes, keys, reads: [...ancestors, ...(references?.places ?? [])], references }
}

/**
 * The revision alone would repeat in a project that was deleted and created again. The code depends on the project, the
 * environment, the revision and every version in it. It is hashed, because clients must not learn codes.
 */
function versionOf(
  revision: number | undefined,
  codes: Buffer | null,
  references: StateReferences | undefined,
): string {
  if (revision === undefined || codes === null) return '0'
  const hash = createHash('sha256').update(codes)
  const read = references?.places.map(
    ({ projectUid, env, code }) => `${projectUid}/${env}/${code?.toString('hex') ?? ''};`,
  )
  for (const text of read?.toSorted() ?? []) hash.update(text)
  return `${String(revision)}-${hash.digest('hex').slice(0, 16)}`
}

/** Remembers the latest state of environments that clients watch, and which keys changed before it. */
export function createChangeHistory(maxKeys = MAX_KEYS) {
  /** The least recently used one comes first. */
  const environments = new Map<string, Known>()
  let count = 0

  function remove(place: string): void {
    count -= costOf(environments.get(place))
    environments.delete(place)
  }

  function set(place: string, known: Known): void {
    remove(place)
    environments.set(place, known)
    count += costOf(known)
    for (const oldest of environments.keys()) {
      if (count <= maxKeys || oldest === place) break
      remove(oldest)
    }
  }

  return {
    /** The latest known state. */
    find: (place: string): EnvironmentState | undefined => environments.get(place)?.state,

    /** Remembers a state that was just read. */
    note: (place: string, state: EnvironmentState): void => {
      const known = environments.get(place)
      if (known === undefined || known.state.version === state.version) set(place, { state, steps: known?.steps ?? [] })
      else {
        const step = { from: known.state.version, changed: changedKeys(known.state.keys, state.keys) }
        set(place, { state, steps: [...known.steps, step].slice(-MAX_STEPS) })
      }
    },

    /** The keys that changed or were removed since a version of the noted state; all keys if that is unknown. */
    changedSince: (place: string, since: string | undefined, state: EnvironmentState): readonly string[] => {
      const known = environments.get(place)
      const first = known?.steps.findLastIndex(({ from }) => from === since) ?? -1
      if (known?.state.version !== state.version || first === -1) return [...state.keys.keys()]
      return [...new Set(known.steps.slice(first).flatMap(({ changed }) => changed))]
    },
  }
}

function changedKeys(before: EnvironmentState['keys'], after: EnvironmentState['keys']): readonly string[] {
  const changed = [...after].filter(([key, version]) => before.get(key) !== version).map(([key]) => key)
  return [...changed, ...[...before.keys()].filter((key) => !after.has(key))]
}

function costOf(known: Known | undefined): number {
  if (known === undefined) return 0
  const { keys, reads, references } = known.state
  const named = keys.size + reads.length + (references?.keys.length ?? 0)
  return 1 + named + known.steps.reduce((sum, { changed }) => sum + changed.length, 0)
}
