import { newId } from '@vault-and-tracker/service-kit/core/ids'
import { sql } from 'kysely'
import type { ActedBy } from '../admin-log/admin-log.ts'
import { onPage, readPage } from '../db/queries.store.ts'
import type { Db } from '../db/schema.ts'
import { totalOf } from '../pagination.ts'
import {
  MAX_NOTICES,
  MAX_UNREAD,
  type NewNotice,
  NOTICE_KINDS,
  type Notice,
  type NoticeDetails,
  type NoticeKind,
  type NoticeStore,
} from './notices.ts'

/**
 * Sends notices, except to the actor and to members who muted the kind. Stores call it in the transaction of the cause,
 * so that both are committed together.
 *
 * The oldest notices of a recipient beyond the limit are deleted. Rows are written in the order of recipients, and
 * locked ones are skipped by the deletion, to prevent deadlocks.
 */
export async function notify(trx: Db, by: ActedBy, notices: readonly NewNotice[]): Promise<void> {
  const sent = notices.filter(({ to }) => to !== by.actorId)
  if (sent.length === 0) return
  const rows = sent.map((notice) => ({ id: newId(), topic: null, torrentId: null, details: {}, times: 1, ...notice }))
  await sql`
    with written as (
      insert into notices as n (id, user_id, kind, topic, torrent_id, details, times, created_at)
      select distinct on ("to", kind, coalesce(topic, new.id::text))
        new.id, "to", kind, topic, "torrentId", details, times, ${by.at}::timestamptz
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
          as new (id uuid, "to" uuid, kind text, topic text, "torrentId" uuid, details jsonb, times integer)
        join users on users.id = "to"
      where kind <> all (muted_notices)
      order by "to", kind, coalesce(topic, new.id::text)
      on conflict (user_id, kind, topic) where read_at is null do update set
        times = n.times + excluded.times, torrent_id = excluded.torrent_id, details = excluded.details,
        created_at = excluded.created_at
      returning user_id, xmax = 0 as is_new
    ), surplus as (
      select id from notices where id in (
        select older.id from (select distinct user_id from written where is_new) as recipient cross join lateral (
          select id from notices where notices.user_id = recipient.user_id
          order by created_at desc, id desc offset ${MAX_NOTICES - 1}
        ) as older
      ) for update skip locked
    )
    delete from notices where id in (select id from surplus)`.execute(trx)
}

/**
 * Deletes the notices about a torrent. Notices about other matches of a saved search too stay. Stores call it in the
 * transaction that deletes the torrent.
 */
export async function deleteNoticesAbout(trx: Db, torrentId: string): Promise<void> {
  await trx
    .updateTable('notices')
    .set((eb) => ({ torrent_id: null, times: eb('times', '-', 1) }))
    .where('torrent_id', '=', torrentId)
    .where('kind', '=', 'search')
    .where('times', '>', 1)
    .execute()
  await trx.deleteFrom('notices').where('torrent_id', '=', torrentId).execute()
}

/** Notices in Postgres. */
export function createNoticeStore(db: Db): NoticeStore {
  return {
    list: async (userId, page, unreadOnly) => {
      const found = db
        .selectFrom('notices')
        .where('user_id', '=', userId)
        .$if(unreadOnly, (query) => query.where('read_at', 'is', null))
      const rows = found
        .leftJoin('torrents', (join) =>
          join.onRef('torrents.id', '=', 'notices.torrent_id').on('torrents.deleted_at', 'is', null),
        )
        .select(['notices.id', 'kind', 'times', 'details', 'notices.created_at', 'read_at'])
        .select(['torrents.id as torrent', 'torrents.name'])
        .orderBy('notices.created_at', 'desc')
        .orderBy('notices.id', 'desc')
        .$call(onPage(page))
      const { items, ...rest } = await readPage(db, page, rows, found.select('notices.id'))
      return { ...rest, items: items.map(toNotice) }
    },

    countUnread: async (userId) => {
      const { rows } = await sql<{ unread: number }>`
        select count(*) as unread from (
          select from notices where user_id = ${userId} and read_at is null limit ${MAX_UNREAD + 1}
        ) as found`.execute(db)
      return totalOf(rows[0]?.unread ?? 0, MAX_UNREAD)
    },

    markRead: async (userId, id, at) => {
      const marked = await db
        .updateTable('notices')
        .set((eb) => ({ read_at: eb.fn.coalesce('read_at', sql<Date>`${at}::timestamptz`) }))
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .executeTakeFirst()
      return marked.numUpdatedRows > 0n
    },

    markAllRead: async (userId, until, at) => {
      await db
        .updateTable('notices')
        .set({ read_at: at })
        .where('user_id', '=', userId)
        .where('read_at', 'is', null)
        .where('created_at', '<=', until)
        .execute()
    },

    settings: async (userId) => {
      const { muted_notices, mailed_notices } = await db
        .selectFrom('users')
        .select(['muted_notices', 'mailed_notices'])
        .where('id', '=', userId)
        .executeTakeFirstOrThrow()
      const known = (kinds: readonly string[]) => NOTICE_KINDS.filter((kind) => kinds.includes(kind))
      return { muted: known(muted_notices), mailed: known(mailed_notices) }
    },

    mail: async (userId, kinds, at) => {
      await db
        .updateTable('users')
        .set((eb) => ({
          mailed_notices: kinds,
          // Of notices from a time without emails, none is sent later.
          notices_mailed_at: eb
            .case()
            .when('mailed_notices', '=', sql<string[]>`'{}'`)
            .then(sql<Date>`${at}::timestamptz`)
            .else(eb.ref('notices_mailed_at'))
            .end(),
        }))
        .where('id', '=', userId)
        .execute()
    },

    mute: async (userId, kinds) => {
      await db.updateTable('users').set({ muted_notices: kinds }).where('id', '=', userId).execute()
    },
  }
}

type Row = {
  readonly id: string
  readonly kind: string
  readonly times: number
  readonly details: unknown
  readonly created_at: Date
  readonly read_at: Date | null
  readonly torrent: string | null
  readonly name: string | null
}

function toNotice(row: Row): Notice {
  const { id, kind, times, details, torrent, name } = row
  return {
    id,
    kind: kind as NoticeKind,
    created: row.created_at,
    isRead: row.read_at !== null,
    torrent: torrent === null || name === null ? null : { id: torrent, name },
    times,
    details: details as NoticeDetails,
  }
}
