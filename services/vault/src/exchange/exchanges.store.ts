import { insertAuditEntry } from '../audit/audit.store.ts'
import { type Db, writeTransaction } from '../database.ts'
import type { ExchangeStore } from './exchanges.ts'

/** Expired keys are kept for this long, so that clocks may differ. */
const KEPT_MS = 600_000

/** Keys that were admitted for ID tokens, in Postgres. */
export function createExchangeStore(db: Db): ExchangeStore {
  return {
    admit: (key, { rule, maxValid, now, wanted, entry }, spend) =>
      writeTransaction(db, wanted, async (trx) => {
        // Weaker than `for update`: secrets can be read and written meanwhile, but other exchanges wait.
        const project = await trx
          .selectFrom('projects as p')
          .innerJoin('trust_rules as r', 'r.project_uid', 'p.uid')
          .select(['p.uid', 'p.name'])
          .where('p.uid', '=', key.projectUid)
          .where('r.id', '=', rule.id)
          .where('r.code', '=', rule.code)
          .forNoKeyUpdate('p')
          .executeTakeFirst()
        if (project === undefined) return 'no rule'
        await trx
          .deleteFrom('exchanged_keys')
          .where('project_uid', '=', project.uid)
          .where('expires_at', '<', new Date(now.getTime() - KEPT_MS))
          .execute()
        const { valid } = await trx
          .selectFrom('exchanged_keys')
          .select(({ fn }) => fn.countAll<number>().as('valid'))
          .where('project_uid', '=', project.uid)
          .where('expires_at', '>', now)
          .executeTakeFirstOrThrow()
        if (valid >= maxValid) return 'full'
        const publicKey = Buffer.from(key.publicKey)
        const registered = await trx
          .selectFrom('project_keys')
          .select('id')
          .where('project_uid', '=', project.uid)
          .where('public_key', '=', publicKey)
          .executeTakeFirst()
        if (registered !== undefined) return 'key exists'
        const added = await trx
          .insertInto('exchanged_keys')
          .values({
            ...{ id: key.id, project_uid: project.uid, rule_id: key.ruleId, public_key: publicKey },
            ...{ subject: key.subject, access: key.scope.access },
            envs: key.scope.envs === null ? null : [...key.scope.envs],
            ...{ created_at: key.createdAt, expires_at: key.expiresAt, code: key.code },
          })
          .onConflict((conflict) => conflict.columns(['project_uid', 'public_key']).doNothing())
          .returning('id')
          .executeTakeFirst()
        if (added === undefined) return 'key exists'
        await insertAuditEntry(trx, entry, project)
        await spend()
        return 'admitted'
      }),
  }
}
