import type { Db } from '../db/schema.ts'
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

    async listBy(userId) {
      const rows = await db
        .selectFrom('invites')
        .leftJoin('users', 'users.id', 'invites.used_by')
        .select(['invites.id', 'invites.created_at', 'invites.expires_at', 'invites.used_at', 'users.username'])
        .where('invites.created_by', '=', userId)
        .orderBy('invites.created_at', 'desc')
        .orderBy('invites.id', 'desc')
        .limit(100)
        .execute()
      return rows.map((row) => ({
        id: row.id,
        createdAt: row.created_at,
        expiresAt: row.expires_at,
        usedAt: row.used_at,
        usedBy: row.username,
      }))
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
