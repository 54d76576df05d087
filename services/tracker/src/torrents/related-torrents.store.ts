import { sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import { contentKeys, type KnownRelease, relatedKeys, relationOf } from '../releases/related-releases.ts'
import { listedColumns, toListed } from './torrent-rows.store.ts'
import type { RelatedTorrent } from './torrents.ts'

/** Enough for every version of a film; the newest ones if there are more. */
const MAX_RELATED = 100

/** The torrents that are neither deleted nor rejected and related to a release, newest first. */
export async function relatedTorrents(
  db: Db,
  known: KnownRelease & { readonly id?: string },
): Promise<readonly RelatedTorrent[]> {
  const keys = relatedKeys(known)
  if (keys.length === 0) return []
  // Without a limit or an order here, the planner uses the index of the keys.
  const found = sql<{ id: string }>`
    with found as materialized (
      select id, created_at from torrents
      where release_keys && ${[...keys]}::text[] and release_keys <> '{}' and deleted_at is null and state <> 'rejected'
    )
    select id from found where id is distinct from ${known.id ?? null}::uuid
    order by created_at desc, id desc limit ${MAX_RELATED}`
  const ids = (await found.execute(db)).rows.map(({ id }) => id)
  if (ids.length === 0) return []
  const rows = await listedColumns(db).where('torrents.id', 'in', ids).orderBy('torrents.created_at', 'desc').execute()
  return rows.map(toListed).flatMap((torrent) => {
    const relation = relationOf(known, torrent)
    return relation === undefined ? [] : [{ relation, torrent }]
  })
}

/** Makes other uploads of the same content wait until the end of the transaction. */
export async function lockContent(trx: Db, known: KnownRelease): Promise<void> {
  // In order, so that two uploads never wait for each other.
  await sql`
    select pg_advisory_xact_lock(key) from (
      select distinct hashtextextended(key, 18) as key from unnest(${[...contentKeys(known)]}::text[]) as key order by 1
    ) as keys`.execute(trx)
}
