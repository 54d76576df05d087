import { insertAuditEntry } from '../audit/audit.store.ts'
import { anyUuid, type Db, writeTransaction } from '../database.ts'
import { referenceRules } from '../integrity/reference-rows.store.ts'
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
        const project = await trx
          .selectFrom('projects')
          .select(['uid', 'name'])
          .where('name', '=', name)
          .$if(projects !== null, (query) => query.where('uid', '=', anyUuid((projects ?? []).map(({ uid }) => uid))))
          .forNoKeyUpdate()
          .executeTakeFirst()
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
        const rule = await trx
          .selectFrom('reference_rules as r')
          .innerJoin('projects as p', 'p.uid', 'r.project_uid')
          .innerJoin('projects as q', 'q.uid', 'r.reader_uid')
          .select(['p.uid', 'p.name', 'q.name as reader'])
          .where('r.id', '=', id)
          .where('p.name', '=', name)
          .$if(projects !== null, (query) => query.where('p.uid', '=', anyUuid((projects ?? []).map(({ uid }) => uid))))
          .forKeyShare('p')
          .executeTakeFirst()
        if (rule === undefined) return false
        const removed = await trx.deleteFrom('reference_rules').where('id', '=', id).returning('id').executeTakeFirst()
        if (removed === undefined) return false
        await insertAuditEntry(trx, entryFor(rule), rule)
        return true
      }),
  }
}
