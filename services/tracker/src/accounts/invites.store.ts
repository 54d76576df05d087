import { recordAdminAction } from '../admin-log/admin-log.store.ts'
import { changedFields } from '../admin-log/admin-log.ts'
import { onPage, readPage } from '../db/queries.store.ts'
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
            from_allowance: !unlimited,
          })
          .execute()
        return true
      }),

    revoke: ({ id, madeBy }, by) =>
      db.transaction().execute(async (trx) => {
        // A registration locks the invite too, so the second transaction sees the result of the first.
        const invite = await trx
          .selectFrom('invites')
          .select(['created_by', 'created_at', 'used_at', 'from_allowance'])
          .where('id', '=', id)
          .$if(madeBy !== undefined, (query) => query.where('created_by', '=', madeBy ?? ''))
          .forUpdate()
          .executeTakeFirst()
        if (invite === undefined) return 'unknown'
        if (invite.used_at !== null) return 'used'
        await trx.deleteFrom('invites').where('id', '=', id).execute()
        const given = invite.from_allowance ? 1 : 0
        const maker = await trx
          .updateTable('users')
          .set((eb) => ({ invites_left: eb('invites_left', '+', given) }))
          .where('id', '=', invite.created_by)
          .returning(['id', 'username', 'invites_left'])
          .executeTakeFirstOrThrow()
        const changed = changedFields(
          { inviteMade: invite.created_at.toISOString(), invitesLeft: maker.invites_left - given },
          { inviteMade: null, invitesLeft: maker.invites_left },
        )
        const target = { type: 'user', id: maker.id, name: maker.username } as const
        if (changed) await recordAdminAction(trx, by, { action: 'user.invite.take-back', target, ...changed })
        return 'done'
      }),

    listBy: (userId, page) => {
      const rows = db
        .selectFrom('invites')
        .leftJoin('users', 'users.id', 'invites.used_by')
        .select(['invites.id', 'invites.created_at as created', 'expires_at as expires', 'used_at as used'])
        .select('username as usedBy')
        .where('created_by', '=', userId)
        .orderBy('invites.created_at', 'desc')
        .orderBy('invites.id', 'desc')
        .$call(onPage(page))
      return readPage(db, page, rows, db.selectFrom('invites').select('id').where('created_by', '=', userId))
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
