import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { Editor, ProjectRef } from '../access/administrator.ts'
import { type NewEntry, newEntry } from '../audit/audit.ts'
import { apiError, noSuch } from '../errors.ts'
import { MAX_ANCESTORS } from '../integrity/rows.ts'
import type { OwnerTurns } from '../limits/owner-turns.ts'
import { findProject, type SecretStore } from '../secrets/secrets.ts'

/** An environment with the one it inherits from, and the number of its own secrets. */
export type Environment = { readonly env: string; readonly parent: string | null; readonly secrets: number }

/** The parent of an environment; null for none. */
export type Inheritance = Pick<Environment, 'env' | 'parent'>

/** Why a parent is refused. */
export type ParentProblem = 'no parent' | 'a cycle' | 'too deep'

/** Parents of environments. */
export type InheritanceStore = {
  /** The environments that have secrets, inherit or are inherited from, by name. */
  listOf(projectUid: string): Promise<readonly Environment[]>
  /**
   * Sets the parent of an environment, which `problemOf` may refuse, in one transaction together with its audit entry.
   *
   * @returns undefined if the project was deleted
   * @throws ApiError payload_too_large, decryption_failed
   */
  setParent(
    project: ProjectRef,
    change: Inheritance,
    by: Editor,
    problemOf: (environments: readonly Environment[]) => ParentProblem | undefined,
    entryFor: (revision: number) => NewEntry,
  ): Promise<'set' | ParentProblem | undefined>
}

/** The use cases of inheritance between environments. */
export type Inheritances = ReturnType<typeof createInheritance>

/** Creates the use cases of inheritance between the environments of a project. */
export function createInheritance(deps: {
  store: InheritanceStore
  projects: Pick<SecretStore, 'findProject'>
  clock: Clock
  inTurn: OwnerTurns
}) {
  const { store, projects, clock, inTurn } = deps
  return {
    /** Lists the environments of a project. @throws ApiError not_found */
    listOf: async (project: string): Promise<readonly Environment[]> => {
      const { uid } = await findProject(projects, project, { projects: null })
      return store.listOf(uid)
    },

    /** Sets the parent of an environment. @throws ApiError not_found, invalid_parent, payload_too_large */
    setParent: async (projectName: string, change: Inheritance, by: Editor): Promise<void> => {
      const { env, parent } = change
      const project = await findProject(projects, projectName, by)
      const entryFor = (revision: number) =>
        newEntry(clock, { action: 'inherit', env, by, detail: { parent, revision } })
      const outcome = await inTurn({ owner: by.actor, project: project.name, wanted: by.wanted }, () =>
        store.setParent(project, change, by, (environments) => parentProblem(environments, change), entryFor),
      )
      if (outcome === undefined) throw noSuch('project')
      if (outcome === 'no parent') throw apiError('not_found', 'The parent does not exist. Store a secret in it first.')
      if (outcome === 'a cycle') throw apiError('invalid_parent', 'The environment would inherit from itself.')
      if (outcome === 'too deep')
        throw apiError('invalid_parent', `An environment inherits from at most ${String(MAX_ANCESTORS)} others.`)
    },
  }
}

/** Why an environment cannot have a parent. */
function parentProblem(environments: readonly Environment[], { env, parent }: Inheritance): ParentProblem | undefined {
  if (parent === null) return undefined
  if (parent === env) return 'a cycle'
  if (environments.every((each) => each.env !== parent)) return 'no parent'
  const parents = new Map(environments.map((each) => [each.env, each.parent]))
  const ancestors = ancestorsOf(parent, parents)
  if (ancestors.includes(env)) return 'a cycle'
  const heights = environments.map((each) => ancestorsOf(each.env, parents).indexOf(env) + 1)
  return ancestors.length + 1 + Math.max(0, ...heights) > MAX_ANCESTORS ? 'too deep' : undefined
}

/** The ancestors of an environment, the nearest first; more than there may be only if the rows were changed by hand. */
function ancestorsOf(env: string, parents: ReadonlyMap<string, string | null>): readonly string[] {
  const ancestors: string[] = []
  for (
    let next = parents.get(env);
    typeof next === 'string' && ancestors.length <= MAX_ANCESTORS;
    next = parents.get(next)
  )
    ancestors.push(next)
  return ancestors
}
