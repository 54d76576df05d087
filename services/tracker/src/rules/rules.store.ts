import { sql } from 'kysely'
import { recordAdminAction } from '../admin-log/admin-log.store.ts'
import { onPage, readPage } from '../db/queries.store.ts'
import type { Db } from '../db/schema.ts'
import type { RulesStore } from './rules.ts'

/** The rules in Postgres. */
export function createRulesStore(db: Db): RulesStore {
  return {
    current: (userId) =>
      db
        .selectFrom('rules')
        .leftJoin('rule_acceptances', (join) =>
          join.onRef('rule_acceptances.version', '=', 'rules.version').on('user_id', '=', userId),
        )
        .select(['rules.version', 'rules.text', 'published_at as publishedAt', 'accepted_at as acceptedAt'])
        .orderBy('rules.version', 'desc')
        .limit(1)
        .executeTakeFirst(),

    async isWaiting(userId) {
      const { rows } = await sql<{ waiting: boolean }>`
        select version is not null and not exists (
          select from rule_acceptances as accepted where accepted.user_id = ${userId} and accepted.version = newest.version
        ) as waiting from (select max(version) as version from rules) as newest`.execute(db)
      return rows[0]?.waiting === true
    },

    publish: (text, version, by) =>
      db.transaction().execute(async (trx) => {
        const before = await trx
          .selectFrom('rules')
          .select(['version', 'text'])
          .orderBy('version', 'desc')
          .limit(1)
          .executeTakeFirst()
        if ((before?.version ?? 0) !== version) return false
        const added = await trx
          .insertInto('rules')
          .values({ version: version + 1, text, published_by: by.actorId, published_at: by.at })
          // Of two administrators who replace the same version, the second one has not read the other's.
          .onConflict((conflict) => conflict.column('version').doNothing())
          .returning('version')
          .executeTakeFirst()
        if (added === undefined) return false
        await trx
          .insertInto('rule_acceptances')
          .values({ user_id: by.actorId, version: added.version, accepted_at: by.at })
          .execute()
        await recordAdminAction(trx, by, {
          action: 'rules.publish',
          target: { type: 'site', id: null, name: null },
          before: before ? { version: before.version, rules: before.text } : null,
          after: { version: added.version, rules: text },
        })
        return true
      }),

    async accept(userId, version, at) {
      const current = sql<number>`(select max(version) from rules)`
      const { rows } = await sql<{ accepted: boolean }>`
        with added as (
          insert into rule_acceptances (user_id, version, accepted_at)
          select ${userId}, ${version}, ${at} where ${version} = ${current}
          on conflict do nothing
        )
        select ${version} = ${current} as accepted`.execute(db)
      return rows[0]?.accepted === true
    },

    async versions(page) {
      const found = db.selectFrom('rules')
      const rows = found
        .innerJoin('users', 'users.id', 'published_by')
        .select((eb) => [
          'rules.version',
          'published_at as publishedAt',
          'users.id',
          'users.username',
          eb
            .selectFrom('rule_acceptances')
            .whereRef('rule_acceptances.version', '=', 'rules.version')
            .select((count) => count.fn.countAll<number>().as('count'))
            .as('acceptances'),
        ])
        .orderBy('rules.version', 'desc')
        .$call(onPage(page))
      const { items, ...rest } = await readPage(db, page, rows, found.select('version'))
      return {
        ...rest,
        items: items.map(({ id, username, acceptances, ...item }) => ({
          ...item,
          publishedBy: { id, username },
          acceptances: acceptances ?? 0,
        })),
      }
    },

    text: async (version) =>
      (await db.selectFrom('rules').select('text').where('version', '=', version).executeTakeFirst())?.text,
  }
}
