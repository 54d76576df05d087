import { sql } from 'kysely'
import { type Db, writeTransaction } from '../database.ts'
import { lockEnvironment } from '../integrity/rows.store.ts'
import type { AuthenticRows } from '../integrity/rows.ts'
import {
  finishChanges,
  lockDataKey,
  lockProject,
  type OnEnvironmentChange,
  requireFewEnvironments,
  requireSpace,
} from '../secrets/environment-changes.store.ts'
import type { StorageLimits } from '../secrets/secrets.ts'
import type { Environment, InheritanceStore } from './inheritance.ts'

/** Parents of environments in Postgres. The locks are in the order of the other writes. */
export function createInheritanceStore(
  db: Db,
  authentic: Pick<AuthenticRows, 'nextEnvironment'>,
  limits: StorageLimits,
  onChange: OnEnvironmentChange,
): InheritanceStore {
  return {
    listOf: (projectUid) => environmentsOf(db, projectUid),

    setParent: (project, { env, parent }, { wanted }, problemOf, entryFor) =>
      writeTransaction(db, wanted, async (trx) => {
        if (!(await lockProject(trx, project.uid))) return undefined
        await lockDataKey(trx, project.uid)
        const before = await lockEnvironment(trx, project.uid, env)
        if ((before.stored?.parent ?? null) === parent) return 'set'
        const problem = problemOf(await environmentsOf(trx, project.uid))
        if (problem !== undefined) return problem
        await finishChanges(trx, { authentic, onChange, before, changes: [], project, parent }, (revision) => [
          entryFor(revision),
        ])
        await requireFewEnvironments(trx, project.uid, limits)
        await requireSpace(trx, project.uid, env, limits)
        return 'set'
      }),
  }
}

async function environmentsOf(db: Db, projectUid: string): Promise<readonly Environment[]> {
  const { rows } = await sql<Environment>`
    with own as (
      select env, count(*) as secrets from secrets where project_uid = ${projectUid} group by env
    ), inherited as (
      select env, parent from environments where project_uid = ${projectUid} and parent is not null
    )
    select names.env, i.parent, coalesce(o.secrets, 0)::integer as secrets
    from (select env from own union select env from inherited union select parent from inherited) as names (env)
    left join own o on o.env = names.env
    left join inherited i on i.env = names.env
    order by names.env`.execute(db)
  return rows
}
