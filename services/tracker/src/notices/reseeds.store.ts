import { sql, type Transaction } from 'kysely'
import { isActiveUser, lockUser } from '../db/queries.store.ts'
import type { Db, Schema } from '../db/schema.ts'
import { notify } from './notices.store.ts'
import type { ReseedRequest, ReseedStore } from './reseeds.ts'

/** Requests for seeders in Postgres. */
export function createReseedStore(db: Db): ReseedStore {
  return {
    request: (request) =>
      db.transaction().execute(async (trx) => {
        const { torrentId, userId, at } = request
        const torrent = await trx
          .selectFrom('torrents')
          .innerJoin('torrent_stats', 'torrent_stats.torrent_id', 'torrents.id')
          .select(['uploader_id', 'seeders'])
          .where('id', '=', torrentId)
          .where('state', '=', 'approved')
          .where('deleted_at', 'is', null)
          .executeTakeFirst()
        if (torrent === undefined) return 'unknown'
        if (torrent.seeders > 0) return 'seeded'
        if ((await requestsOf(trx, request)) >= request.userLimit) return 'limited'
        const recipients = await recipientsOf(trx, request, torrent.uploader_id)
        // Otherwise members would be told that others were asked.
        if (recipients.length === 0) return 0
        const recorded = await trx
          .insertInto('reseed_requests')
          .values({ torrent_id: torrentId, user_id: userId, requested_at: at })
          .onConflict((conflict) =>
            conflict
              .column('torrent_id')
              .doUpdateSet({ user_id: userId, requested_at: at })
              .where('reseed_requests.requested_at', '<=', request.torrentSince),
          )
          .executeTakeFirst()
        if (recorded.numInsertedOrUpdatedRows === 0n) return 'asked'
        await notify(
          trx,
          { actorId: userId, at },
          recipients.map((to) => ({ to, kind: 'reseed', topic: torrentId, torrentId })),
        )
        return recipients.length
      }),
  }
}

/** Locks the member, so that concurrent requests are counted too. */
async function requestsOf(trx: Transaction<Schema>, { userId, userSince }: ReseedRequest): Promise<number> {
  await lockUser(trx, userId)
  const { made } = await trx
    .selectFrom('reseed_requests')
    .select((eb) => eb.fn.countAll<number>().as('made'))
    .where('user_id', '=', userId)
    .where('requested_at', '>', userSince)
    .executeTakeFirstOrThrow()
  return made
}

/** The uploader, and the members who completed the torrent last, without the requester. */
async function recipientsOf(
  trx: Transaction<Schema>,
  { torrentId, userId, maxRecipients }: ReseedRequest,
  uploader: string | null,
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from users join (
      select user_id from user_torrents
      where torrent_id = ${torrentId} and completed_at is not null and user_id <> ${userId}
      order by completed_at desc limit ${maxRecipients}
    ) as snatched on user_id = id
    where ${isActiveUser}
    union
    select id from users where id = ${uploader} and id <> ${userId} and ${isActiveUser}`.execute(trx)
  return rows.map(({ id }) => id)
}
