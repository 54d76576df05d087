import { violatedUniqueConstraint } from '@vault-and-tracker/service-kit/postgres/pool'
import { sql, type Transaction } from 'kysely'
import { isActiveUser } from '../db/queries.store.ts'
import type { Db, Schema } from '../db/schema.ts'
import { apiError } from '../errors.ts'
import type { MailLinkKind, MailLinkStore } from './mail-links.ts'

/** Links sent by email, in Postgres. */
export function createMailLinkStore(db: Db): MailLinkStore {
  return {
    addForAddress: async ({ kind, tokenHash, email, at, notAfter }) => {
      const { rows } = await sql<{ username: string; email: string }>`
        with receiver as (
          select id, username, email, session_epoch from users
          where lower(email) = ${email.toLowerCase()} and ${isActiveUser}
        ), added as (
          insert into mail_links as link (user_id, kind, token_hash, email, session_epoch, created_at)
          select id, ${kind}, ${tokenHash}, email, session_epoch, ${at}::timestamptz from receiver
          on conflict (user_id, kind) do update set token_hash = excluded.token_hash, email = excluded.email,
            session_epoch = excluded.session_epoch, created_at = excluded.created_at
            where link.created_at < ${notAfter}::timestamptz
          returning user_id
        )
        select username, email from receiver join added on user_id = id`.execute(db)
      return rows[0]
    },

    addForUser: async (userId, { kind, tokenHash, email, at, notAfter }) => {
      const { rows } = await sql`
        insert into mail_links as link (user_id, kind, token_hash, email, session_epoch, created_at)
        select id, ${kind}, ${tokenHash}, ${email}, session_epoch, ${at}::timestamptz from users
        where id = ${userId} and not exists (select from users where lower(email) = ${email.toLowerCase()})
        on conflict (user_id, kind) do update set token_hash = excluded.token_hash, email = excluded.email,
          session_epoch = excluded.session_epoch, created_at = excluded.created_at
          where link.created_at < ${notAfter}::timestamptz
        returning user_id`.execute(db)
      return rows.length > 0
    },

    works: async (kind, tokenHash, since) => {
      const link = await db
        .selectFrom('mail_links')
        .select('user_id')
        .where('kind', '=', kind)
        .where('token_hash', '=', tokenHash)
        .where('created_at', '>', since)
        .executeTakeFirst()
      return link !== undefined
    },

    setPassword: (tokenHash, since, passwordHash) =>
      db.transaction().execute(async (trx) => {
        const used = await take(trx, 'password', tokenHash, since)
        if (used === undefined) return false
        await trx
          .updateTable('users')
          .set((eb) => ({ password_hash: passwordHash, session_epoch: eb('session_epoch', '+', 1) }))
          .where('id', '=', used.userId)
          .execute()
        return true
      }),

    setEmail: async (tokenHash, since) => {
      try {
        return await db.transaction().execute(async (trx) => {
          const used = await take(trx, 'email', tokenHash, since)
          if (used === undefined) return undefined
          const { userId, email, username, oldEmail } = used
          await trx.updateTable('users').set({ email }).where('id', '=', userId).execute()
          // A link for a new password was sent to the old address.
          await trx.deleteFrom('mail_links').where('user_id', '=', userId).execute()
          return { username, oldEmail, email }
        })
      } catch (error) {
        if (violatedUniqueConstraint(error) === undefined) throw error
        throw apiError('CONFLICT', 'This email address is in use.')
      }
    },
  }
}

/** Deletes a link that works, so that one of several concurrent uses succeeds, and locks its user. */
async function take(trx: Transaction<Schema>, kind: MailLinkKind, tokenHash: Buffer, since: Date) {
  const link = await trx
    .deleteFrom('mail_links')
    .where('kind', '=', kind)
    .where('token_hash', '=', tokenHash)
    .where('created_at', '>', since)
    .returning(['user_id as userId', 'email', 'session_epoch'])
    .executeTakeFirst()
  const user =
    link &&
    (await trx
      .selectFrom('users')
      .select(['username', 'email as oldEmail'])
      .where('id', '=', link.userId)
      .where('session_epoch', '=', link.session_epoch)
      .where(isActiveUser)
      .forUpdate()
      .executeTakeFirst())
  return user && { ...user, userId: link.userId, email: link.email }
}
