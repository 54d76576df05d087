import { sql } from 'kysely'
import { isActiveUser } from '../db/queries.store.ts'
import type { Db } from '../db/schema.ts'
import type { DigestStore } from './notice-mails.ts'
import type { NoticeKind } from './notices.ts'

/** Digests in Postgres, computed from the notices. */
export function createDigestStore(db: Db): DigestStore {
  return {
    take: async ({ now, before, digests, listed }) => {
      const { rows } = await sql<{ username: string; email: string; total: number; kinds: string[]; names: string[] }>`
        with due as (
          select id, notices_mailed_at as since from users
          where mailed_notices <> '{}' and notices_mailed_at < ${before}::timestamptz and ${isActiveUser}
            and exists (
              select from notices where user_id = users.id and read_at is null and kind = any (mailed_notices)
                and created_at > notices_mailed_at
            )
          order by notices_mailed_at limit ${digests} for update skip locked
        ), taken as (
          update users set notices_mailed_at = ${now}::timestamptz from due where users.id = due.id
          returning users.id, username, email, mailed_notices, since
        )
        select username, email, total, kinds, names from taken cross join lateral (
          select count(*) as total, (array_agg(kind order by n.created_at desc, n.id desc))[:${listed}::int] as kinds,
            (array_agg(coalesce(torrents.name, '') order by n.created_at desc, n.id desc))[:${listed}::int] as names
          from notices as n left join torrents on torrents.id = n.torrent_id and torrents.deleted_at is null
          where n.user_id = taken.id and read_at is null and kind = any (mailed_notices) and n.created_at > since
        ) as fresh`.execute(db)
      return rows.map(({ username, email, total, kinds, names }) => ({
        ...{ username, email, total },
        notices: kinds.map((kind, i) => ({ kind: kind as NoticeKind, torrent: names[i] || null })),
      }))
    },
  }
}
