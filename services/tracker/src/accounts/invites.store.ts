import type { Db } from '../db/schema.ts'
import { MAX_EXACT_TOTAL, totalOf } from '../lists/total.ts'
import type { InviteStore } from './invites.ts'

/** Invites in Postgres. */
export function createInviteStore(db: Db): InviteStore {
  return {
    create: (invite, unlimited) =>
      db.transaction().execute(async (trx) => {
        if (!unlimited) {
          const taken = await trx
            .updateTable('users')
            .set((eb) => ({ invites_left: eb('invites_left', '-', 1) }))
            .where('id', '=', invite.createdBy)
            .where('invites_left', '>', 0)
            .executeTakeFirst()
          if (taken.numUpdatedRows === 0n) return false
        }
        await trx
          .insertInto('invites')
          .values({
            id: invite.id,
            code_hash: invite.codeHash,
            created_by: invite.createdBy,
            created_at: invite.createdAt,
            expires_at: invite.expiresAt,
          })
          .execute()
        return true
      }),

    async listBy(userId, { page, limit }) {
      const rows = await db
        .selectFrom('invites')
        .leftJoin('users', 'users.id', 'invites.used_by')
        .select(['invites.id', 'invites.created_at', 'invites.expires_at', 'invites.used_at', 'users.username'])
        .where('invites.created_by', '=', userId)
        .orderBy('invites.created_at', 'desc')
        .orderBy('invites.id', 'desc')
        .limit(limit)
        .offset((page - 1) * limit)
        .execute()
      const { counted } = await db
        .selectFrom((eb) =>
          eb
            .selectFrom('invites')
            .select('id')
            .where('created_by', '=', userId)
            .limit(MAX_EXACT_TOTAL + 1)
            .as('found'),
        )
        .select((eb) => eb.fn.countAll<number>().as('counted'))
        .executeTakeFirstOrThrow()
      const items = rows.map((row) => ({
        id: row.id,
        createdAt: row.created_at,
        expiresAt: row.expires_at,
        usedAt: row.used_at,
        usedBy: row.username,
      }))
      return { items, ...totalOf(counted) }
    },

    inviterOf: (userId) =>
      db
        .selectFrom('users as invited')
        .innerJoin('users', 'users.id', 'invited.invited_by')
        .select(['users.id', 'users.username'])
        .where('invited.id', '=', userId)
        .executeTakeFirst(),
  }
}
