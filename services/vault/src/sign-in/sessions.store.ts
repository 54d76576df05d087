import { sql } from 'kysely'
import { insertAuditEntry } from '../audit/audit.store.ts'
import type { Db } from '../database.ts'
import { sessions } from '../integrity/feature-rows.store.ts'
import type { SessionStore } from './sessions.ts'

/** The advisory lock of creations, unique in this database. */
const CREATION_LOCK = 7_324_514

const NO_PROJECT = { uid: null, name: '' }

/** Sessions of administrators in Postgres. */
export function createSessionStore(db: Db): SessionStore {
  return {
    create: ({ tokenHash, ...session }, { perPerson, total }, entry) =>
      db.transaction().execute(async (trx) => {
        await sql`select pg_advisory_xact_lock(${CREATION_LOCK})`.execute(trx)
        const { count } = await trx
          .selectFrom('administrator_sessions')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .executeTakeFirstOrThrow()
        if (count >= total) return false
        await trx
          .deleteFrom('administrator_sessions')
          .where((eb) =>
            eb(
              'id',
              'in',
              eb
                .selectFrom('administrator_sessions')
                .select('id')
                .where('subject', '=', session.subject)
                .orderBy('id', 'desc')
                .offset(perPerson - 1),
            ),
          )
          .execute()
        await trx
          .insertInto('administrator_sessions')
          .values({
            ...{ id: session.id, token_hash: Buffer.from(tokenHash), subject: session.subject, name: session.name },
            ...{ roles: [...session.roles], settings: session.settings },
            ...{ created_at: session.createdAt, expires_at: session.expiresAt, code: session.code },
          })
          .execute()
        await insertAuditEntry(trx, entry, NO_PROJECT)
        return true
      }),

    find: (tokenHash) => sessions(db).where('s.token_hash', '=', tokenHash).executeTakeFirst(),

    list: (after) => sessions(db).where('s.expires_at', '>', after).orderBy('s.id').execute(),

    projectsNamed: (names) =>
      db
        .selectFrom('projects')
        .select(['uid', 'name'])
        .where('name', '=', sql<string>`any(${[...names]}::text[])`)
        .execute(),

    end: (id, entryFor) =>
      db.transaction().execute(async (trx) => {
        const ended = await trx
          .deleteFrom('administrator_sessions')
          .$if(id !== undefined, (query) => query.where('id', '=', id ?? ''))
          .returning(['id', 'subject', 'name'])
          .execute()
        if (ended.length > 0) await insertAuditEntry(trx, entryFor(ended), NO_PROJECT)
        return ended.length > 0
      }),

    removeExpired: async (keptMs) => {
      await sql`delete from administrator_sessions
        where expires_at < now() - ${keptMs} * interval '1 ms'`.execute(db)
    },
  }
}
