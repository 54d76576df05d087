import type { ApiError } from '@vault-and-tracker/service-kit/core/errors'
import { apiError, type ErrorCode, isApiError } from '../errors.ts'
import { type AuthenticRows, effective } from '../integrity/rows.ts'
import { isTemplate } from '../keyring/envelope.ts'
import type { SourceValue } from '../references/references.ts'
import {
  type ReferencedStore,
  type ResolvedPlace,
  type ResolveReferences,
  ROW_COST,
  sourceValue,
  TooCostly,
} from './resolution.ts'
import type { Values } from './values.ts'

/** The environments that read a changed one are checked up to this cost together: about a thousand small ones. */
const MAX_COST = 32 * 1024 ** 2
/** The cost of one that does not resolve, which is checked twice and may be large. */
const BROKEN_COST = MAX_COST / 16

/** The environment that a refused write would break. */
export class BrokenEnvironment extends Error {
  override readonly name = 'BrokenEnvironment'
  readonly env: string

  constructor(env: string) {
    super('a value of the environment would not resolve')
    this.env = env
  }
}

/** Finds what a change of an environment may break. */
export type CheckedStore = ReferencedStore & {
  /**
   * The environments of a project with values that refer to others and read this environment: it first, those that inherit
   * from it, and those that refer to one of these.
   */
  readersOf(place: ResolvedPlace): Promise<readonly string[]>
}

/** A changed environment, with the keys that were written or deleted. */
type Change = ResolvedPlace & { readonly secrets: readonly { readonly key: string }[] }

type Problem = ApiError<ErrorCode>

/**
 * Creates the check that a change lets the environments of its project resolve which did before. Other projects that refer
 * to the environment are not checked: a project decides about its own secrets.
 *
 * @param deps `stored` reads what was committed
 */
export function createReferenceChecks(deps: {
  stored: ReferencedStore
  resolve: ResolveReferences
  values: Pick<Values, 'decrypt'>
  rows: Pick<AuthenticRows, 'assertInheritance'>
  /** Lets other requests have their turn. */
  threadTurn: (bytes: number) => Promise<void> | undefined
}) {
  const { stored, resolve, values, rows, threadTurn } = deps

  /** @throws TooCostly */
  async function readValues(
    from: ReferencedStore,
    { project, env }: ResolvedPlace,
    { keys, maxCost }: { readonly keys: readonly string[] | 'all'; readonly maxCost: number },
  ) {
    const read = await from.readWanted([{ projectUid: project.uid, env, keys }], { maxBytes: maxCost, maxCost })
    if (typeof read === 'string') throw new TooCostly()
    const { levels } = read[0] ?? { levels: [] }
    rows.assertInheritance(levels)
    const wanted = keys === 'all' ? undefined : new Set(keys)
    const known = new Map<string, SourceValue>()
    let bytes = 0
    for (const [level, row] of effective(levels)) {
      if (wanted?.has(row.key) === false) continue
      bytes += row.blob.length
      await threadTurn(row.blob.length + ROW_COST)
      const text = await values.decrypt({ projectUid: project.uid, project: project.name }, level, row)
      if (text !== undefined) known.set(row.key, sourceValue(text, isTemplate(row.blob)))
    }
    return { known, cost: bytes + known.size * ROW_COST }
  }

  /** Resolves an environment as a fetch would. @throws TooCostly */
  async function tryResolve(
    from: ReferencedStore,
    place: ResolvedPlace,
    maxCost: number,
  ): Promise<{ readonly problem?: Problem; readonly cost: number }> {
    try {
      const { known, cost } = await readValues(from, place, { keys: 'all', maxCost })
      const resolution = await resolve(place, { values: known, areAll: true }, { from, maxCost: maxCost - cost })
      return { cost: cost + resolution.cost }
    } catch (error) {
      if (isProblem(error)) return { problem: error, cost: BROKEN_COST }
      throw error
    }
  }

  /** Resolves the written values alone. */
  async function requireWritten(from: ReferencedStore, { secrets, ...place }: Change): Promise<void> {
    const keys = secrets.map(({ key }) => key)
    const { known } = await readValues(from, place, { keys, maxCost: Number.MAX_SAFE_INTEGER })
    const written = [...known].filter(([, value]) => typeof value !== 'string')
    await resolve(place, { values: new Map(written), areAll: false }, { from }).catch((error: unknown) => {
      throw isProblem(error) ? refused(error, place.env) : error
    })
  }

  /** @throws TooCostly */
  async function requireReader(from: ReferencedStore, change: Change, env: string, maxCost: number): Promise<number> {
    const place = { project: change.project, env }
    const { problem, cost } = await tryResolve(from, place, maxCost)
    if (problem === undefined) return cost
    const before = await tryResolve(stored, place, maxCost)
    if (before.problem === undefined) throw refused(problem, env)
    if (env === change.env) await requireWritten(from, change)
    return cost
  }

  /**
   * Checks a change within its transaction, whose locks exclude other changes of the project. Environments that did not
   * resolve before do not matter, so that they can be repaired step by step. Beyond the limit of costs, only the written
   * values are checked.
   *
   * @param from reads the state after the change
   * @throws ApiError unresolved_reference, caused by a BrokenEnvironment
   */
  return async (change: Change, from: CheckedStore): Promise<void> => {
    let left = MAX_COST
    try {
      for (const env of await from.readersOf(change)) left -= await requireReader(from, change, env, left)
    } catch (error) {
      if (!(error instanceof TooCostly)) throw error
      await requireWritten(from, change)
    }
  }
}

/** An environment that fails in one of these ways does not resolve. */
function isProblem(error: unknown): error is Problem {
  return isApiError(error) && (error.code === 'unresolved_reference' || error.code === 'decryption_failed')
}

function refused(problem: Problem, env: string): Problem {
  if (problem.code !== 'unresolved_reference') return problem
  const message = `This would break the environment ${JSON.stringify(env)}. ${problem.message}`
  return apiError('unresolved_reference', message, { cause: new BrokenEnvironment(env) })
}
