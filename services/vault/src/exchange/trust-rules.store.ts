import { violatedUniqueConstraint } from '@vault-and-tracker/service-kit/postgres/pool'
import { sql } from 'kysely'
import { insertAuditEntry } from '../audit/audit.store.ts'
import { type Db, writeTransaction } from '../database.ts'
import { apiError } from '../errors.ts'
import { rememberExchangedKeys, toTrustRule, trustRules } from '../integrity/exchange-rows.store.ts'
import { projectAmong } from '../projects/projects.store.ts'
import type { TrustRuleStore } from './trust-rules.ts'

/** The advisory lock of additions, which are counted over all projects; unique in this database. */
const ADDITION_LOCK = 7_324_513

/** Trust rules in Postgres. */
export function createTrustRuleStore(db: Db): TrustRuleStore {
  return {
    listOf: async (name) => {
      const project = await db.selectFrom('projects').select('uid').where('name', '=', name).executeTakeFirst()
      if (project === undefined) return undefined
      const rows = await trustRules(db).where('r.project_uid', '=', project.uid).orderBy('r.id').execute()
      return rows.map(toTrustRule)
    },

    ofIssuer: async ({ issuer, algorithm, audiences, project, name }, limit) => {
      const rows = await trustRules(db)
        .where('r.issuer', '=', issuer)
        .$if(audiences !== undefined, (query) =>
          query.where(
            'r.audience',
            '=',
            sql<string>`any(${audiences?.filter((text) => !text.includes('\0'))}::text[])`,
          ),
        )
        .$if(project !== undefined, (query) => query.where('p.name', '=', project ?? ''))
        .$if(name !== undefined, (query) => query.where('r.name', '=', name ?? ''))
        .orderBy(sql`${algorithm} = any(r.algorithms)`, 'desc')
        .orderBy('r.id')
        .limit(limit)
        .execute()
      return rows.map(toTrustRule)
    },

    add: async (name, { wanted, projects }, limits, seal, entry) => {
      try {
        return await writeTransaction(db, wanted, async (trx) => {
          const project = await projectAmong(trx, name, projects).forKeyShare().executeTakeFirst()
          if (project === undefined) return 'no project'
          await sql`select pg_advisory_xact_lock(${ADDITION_LOCK})`.execute(trx)
          const { own, total } = await trx
            .selectFrom('trust_rules')
            .select(({ fn }) => [
              fn.countAll<number>().as('total'),
              fn.countAll<number>().filterWhere('project_uid', '=', project.uid).as('own'),
            ])
            .executeTakeFirstOrThrow()
          if (own >= limits.perProject) return 'project is full'
          if (total >= limits.total) return 'vault is full'
          const { id, projectUid, scope, code, ...rule } = seal(project.uid)
          await trx
            .insertInto('trust_rules')
            .values({
              ...{ id, project_uid: projectUid, name: rule.name, issuer: rule.issuer, audience: rule.audience },
              ...{ algorithms: [...rule.algorithms], claims: [...rule.claims], access: scope.access },
              ...{ envs: scope.envs === null ? null : [...scope.envs], minutes: rule.minutes },
              ...{ created_at: rule.createdAt, code },
            })
            .execute()
          await insertAuditEntry(trx, entry, project)
          return 'added'
        })
      } catch (error) {
        if (violatedUniqueConstraint(error) === 'trust_rules_name_key') throw apiError('trust_rule_exists')
        throw error
      }
    },

    remove: (name, { wanted, projects }, id, entryFor) =>
      writeTransaction(db, wanted, async (trx) => {
        // Exchanges lock the project too, so the count is that of the active keys that are revoked.
        const project = await projectAmong(trx, name, projects).forNoKeyUpdate().executeTakeFirst()
        if (project === undefined) return false
        const { keys } = await trx
          .selectFrom('exchanged_keys')
          .select(({ fn }) => fn.countAll<number>().as('keys'))
          .where('rule_id', '=', id)
          .where(sql<boolean>`expires_at > now()`)
          .executeTakeFirstOrThrow()
        await rememberExchangedKeys(trx, project.uid, sql`x.rule_id = ${id}`)
        const removed = await trx
          .deleteFrom('trust_rules')
          .where('id', '=', id)
          .where('project_uid', '=', project.uid)
          .returning('name')
          .executeTakeFirst()
        if (removed === undefined) return false
        await insertAuditEntry(trx, entryFor({ name: removed.name, keys }), project)
        return true
      }),
  }
}
