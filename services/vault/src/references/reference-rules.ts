import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isId, newId } from '@vault-and-tracker/service-kit/core/ids'
import type { Editor } from '../access/administrator.ts'
import { PROJECT_NAME } from '../access/names.ts'
import { type NewEntry, newEntry } from '../audit/audit.ts'
import { apiError, noSuch } from '../errors.ts'
import type { AuthenticRows, ReferenceRuleRow, Sealed } from '../integrity/rows.ts'
import type { OwnerTurns } from '../limits/owner-turns.ts'

/** Which secrets a reader, another project, may refer to. Null stands for all. */
export type ReferenceGrant = Pick<ReferenceRuleRow, 'readerEnvs' | 'envs' | 'keys'>

/** A rule with the name of its reader. */
export type ReferenceRule = Sealed<ReferenceRuleRow> & { readonly reader: string }

/** Reference rules. Every writing method is one transaction, together with its audit entry. */
export type ReferenceRuleStore = {
  /** The rules of a project in the order in which they were added; undefined if it does not exist. */
  listOf(project: string): Promise<readonly ReferenceRule[] | undefined>
  /** Adds a rule to a project. `seal` completes it with the uids of both projects. */
  add(
    names: { readonly project: string; readonly reader: string },
    by: Editor,
    max: number,
    seal: (uids: { projectUid: string; readerUid: string }) => Sealed<ReferenceRuleRow>,
    entry: NewEntry,
  ): Promise<'added' | 'no project' | 'no reader' | 'full'>
  remove(project: string, by: Editor, id: string, entryFor: (rule: { reader: string }) => NewEntry): Promise<boolean>
}

const MAX_RULES = 50

/** The keys of an environment that rules let an environment of their reader refer to; null for all. */
export function grantedKeys(
  rules: readonly ReferenceGrant[],
  { readerEnv, env }: { readonly readerEnv: string; readonly env: string },
): ReadonlySet<string> | null {
  const has = (names: readonly string[] | null, name: string): boolean => names === null || names.includes(name)
  const own = rules.filter(({ readerEnvs, envs }) => has(readerEnvs, readerEnv) && has(envs, env))
  return own.some(({ keys }) => keys === null) ? null : new Set(own.flatMap(({ keys }) => keys ?? []))
}

/** The reference rules of the vault. */
export type ReferenceRules = ReturnType<typeof createReferenceRules>

/** Creates the use cases of reference rules. */
export function createReferenceRules(deps: {
  store: ReferenceRuleStore
  rows: Pick<AuthenticRows, 'referenceRules'>
  inTurn: OwnerTurns
  clock: Clock
}) {
  const { store, rows, inTurn, clock } = deps
  return {
    /** Returns the rules of a project. @throws ApiError not_found */
    listOf: async (project: string): Promise<readonly ReferenceRule[]> => {
      const listed = PROJECT_NAME.test(project) ? await store.listOf(project) : undefined
      if (listed === undefined) throw noSuch('project')
      return listed.filter(rows.referenceRules.accept)
    },

    /** Adds a rule. @returns its id @throws ApiError invalid_request, not_found, too_many_reference_rules */
    add: async (names: { project: string; reader: string }, grant: ReferenceGrant, by: Editor): Promise<string> => {
      const { project, reader } = names
      if (project === reader)
        throw apiError('invalid_request', 'project: must be another project; own environments need no rule.')
      const id = newId()
      const createdAt = new Date(clock.now())
      const listed = (list: readonly string[] | null): string | null => list?.join(',') ?? null
      const entry = newEntry(clock, {
        action: 'reference-rule.create',
        by,
        detail: {
          ...{ rule: id, reader, readerEnvs: listed(grant.readerEnvs) },
          ...{ envs: listed(grant.envs), keys: listed(grant.keys) },
        },
      })
      const outcome = await inTurn({ owner: by.actor, project, wanted: by.wanted }, () =>
        store.add(
          names,
          by,
          MAX_RULES,
          (uids) => rows.referenceRules.seal({ ...grant, ...uids, id, createdAt }),
          entry,
        ),
      )
      if (outcome === 'no project') throw noSuch('project')
      if (outcome === 'no reader')
        throw apiError('not_found', 'The project that would refer to secrets does not exist.')
      if (outcome === 'full')
        throw apiError('too_many_reference_rules', `The project already has ${String(MAX_RULES)} reference rules.`)
      return id
    },

    /** Removes a rule. Values that need it no longer resolve. @throws ApiError not_found */
    remove: async (project: string, id: string, by: Editor): Promise<void> => {
      const entryFor = ({ reader }: { reader: string }) =>
        newEntry(clock, { action: 'reference-rule.delete', by, detail: { rule: id, reader } })
      const turn = { owner: by.actor, project, wanted: by.wanted }
      const isRemoved =
        PROJECT_NAME.test(project) && isId(id) && (await inTurn(turn, () => store.remove(project, by, id, entryFor)))
      if (!isRemoved) throw noSuch('reference rule')
    },
  }
}
