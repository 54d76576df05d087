import { insertAuditEntry } from '../audit/audit.store.ts'
import { type Db, writeTransaction } from '../database.ts'
import { referenceRules } from '../integrity/feature-rows.store.ts'
import { projectAmong } from '../projects/projects.store.ts'
import type { ReferenceRuleStore } from './reference-rules.ts'

/** Reference rules in Postgres. */
export function createReferenceRuleStore(db: Db): ReferenceRuleStore {
  return {
    listOf: async (name) => {
      const project = await db.selectFrom('projects').select('uid').where('name', '=', name).executeTakeFirst()
      if (project === undefined) return undefined
      return referenceRules(db).where('r.project_uid', '=', project.uid).orderBy('r.id').execute()
    },

    add: ({ project: name, reader: readerName }, { wanted, projects }, max, seal, entry) =>
      writeTransaction(db, wanted, async (trx) => {
        // Additions wait for each other. The reader is locked by its foreign key only.
        const project = await projectAmong(trx, name, projects).forNoKeyUpdate().executeTakeFirst()
        if (project === undefined) return 'no project'
        const reader = await trx.selectFrom('projects').select('uid').where('name', '=', readerName).executeTakeFirst()
        if (reader === undefined) return 'no reader'
        const { count } = await trx
          .selectFrom('reference_rules')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .where('project_uid', '=', project.uid)
          .executeTakeFirstOrThrow()
        if (count >= max) return 'full'
        const { id, readerEnvs, envs, keys, createdAt, code } = seal({ projectUid: project.uid, readerUid: reader.uid })
        await trx
          .insertInto('reference_rules')
          .values({
            ...{ id, project_uid: project.uid, reader_uid: reader.uid, reader_envs: readerEnvs && [...readerEnvs] },
            ...{ envs: envs && [...envs], keys: keys && [...keys], created_at: createdAt, code },
          })
          .execute()
        await insertAuditEntry(trx, entry, project)
        return 'added'
      }),

    remove: (name, { wanted, projects }, id, entryFor) =>
      writeTransaction(db, wanted, async (trx) => {
        const project = await projectAmong(trx, name, projects).forKeyShare().executeTakeFirst()
        if (project === undefined) return false
        const removed = await trx
          .deleteFrom('reference_rules as r')
          .using('projects as p')
          .where('r.id', '=', id)
          .where('r.project_uid', '=', project.uid)
          .whereRef('p.uid', '=', 'r.reader_uid')
          .returning('p.name as reader')
          .executeTakeFirst()
        if (removed === undefined) return false
        await insertAuditEntry(trx, entryFor(removed), project)
        return true
      }),
  }
}
