import { sql } from 'kysely'
import { insertAuditEntry } from '../audit/audit.store.ts'
import { type Db, writeTransaction } from '../database.ts'
import { exchangedKeys, rememberExchangedKeys, toExchangedKey } from '../integrity/exchange-rows.store.ts'
import type { ExchangeStore } from './exchanges.ts'

/** Rows are deleted some time after their end: a key that was removed before is marked as revoked. */
const HAS_EXPIRED = sql<boolean>`x.expires_at < now() - interval '10 minutes'`

/** Keys that were admitted for ID tokens, in Postgres. */
export function createExchangeStore(db: Db): ExchangeStore {
  return {
    admit: (key, { rule, maxValid, wanted, entry }, spend) =>
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
        const publicKey = Buffer.from(key.publicKey)
        const given = sql<boolean>`x.public_key = ${publicKey}`
        const known = await exchangedKeys(trx)
          .where('x.project_uid', '=', project.uid)
          .where(given)
          .where(sql<boolean>`x.expires_at > now()`)
          .executeTakeFirst()
        if (known !== undefined) return toExchangedKey(known)
        const ended = sql<boolean>`(${HAS_EXPIRED} or ${given})`
        await rememberExchangedKeys(trx, project.uid, ended)
        await trx.deleteFrom('exchanged_keys as x').where('x.project_uid', '=', project.uid).where(ended).execute()
        const { valid } = await trx
          .selectFrom('exchanged_keys')
          .select(({ fn }) => fn.countAll<number>().as('valid'))
          .where('project_uid', '=', project.uid)
          .where(sql<boolean>`expires_at > now()`)
          .executeTakeFirstOrThrow()
        if (valid >= maxValid) return 'full'
        const registered = await trx
          .selectFrom('project_keys')
          .select('id')
          .where('project_uid', '=', project.uid)
          .where('public_key', '=', publicKey)
          .executeTakeFirst()
        if (registered !== undefined) return 'key exists'
        await trx
          .deleteFrom('ended_exchanged_keys')
          .where('project_uid', '=', project.uid)
          .where('public_key', '=', publicKey)
          .execute()
        await trx
          .insertInto('exchanged_keys')
          .values({
            ...{ id: key.id, project_uid: project.uid, rule_id: key.ruleId, public_key: publicKey },
            ...{ subject: key.subject, access: key.scope.access },
            envs: key.scope.envs === null ? null : [...key.scope.envs],
            ...{ created_at: key.createdAt, expires_at: key.expiresAt, code: key.code },
          })
          .execute()
        await insertAuditEntry(trx, entry, project)
        await spend()
        return 'admitted'
      }),
  }
}
