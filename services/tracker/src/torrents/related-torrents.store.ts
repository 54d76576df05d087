import { sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import { contentKeys, type KnownRelease, relatedKeys, relationOf } from '../releases/related-releases.ts'
import { listedColumns, toListed } from './torrent-rows.store.ts'
import type { RelatedTorrent, Viewer } from './torrents.ts'

/** Enough for every version of a film; the newest approved ones if there are more. */
const MAX_RELATED = 100

/** The torrents that a viewer may see, neither deleted nor rejected, and related to a release, newest first. */
export async function relatedTorrents(
  db: Db,
  known: KnownRelease & { readonly id?: string },
  viewer: Viewer,
): Promise<readonly RelatedTorrent[]> {
  const keys = relatedKeys(known)
  if (keys.length === 0) return []
  // Without a limit or an order here, the planner uses the index of the keys.
  const found = sql<{ id: string }>`
    with found as materialized (
      select id, created_at, state from torrents
      where release_keys && ${[...keys]}::text[] and release_keys <> '{}' and deleted_at is null and state <> 'rejected'
        and (state = 'approved' or uploader_id = ${viewer.id} or ${viewer.role !== 'member'})
    )
    select id from found where id is distinct from ${known.id ?? null}::uuid
    order by state = 'approved' desc, created_at desc, id desc limit ${MAX_RELATED}`
  const ids = (await found.execute(db)).rows.map(({ id }) => id)
  if (ids.length === 0) return []
  const rows = await listedColumns(db).where('torrents.id', 'in', ids).orderBy('torrents.created_at', 'desc').execute()
  return rows.map(toListed).flatMap((torrent) => {
    const relation = relationOf(known, torrent)
    return relation === undefined ? [] : [{ relation, torrent }]
  })
}

/**
 * Reserves a content until the end of the transaction.
 *
 * @returns whether no other transaction has reserved it; waiting for one would occupy a connection
 */
export async function reserveContent(trx: Db, known: KnownRelease): Promise<boolean> {
  // One after the other in the same order everywhere, so that one of several transactions gets all.
  for (const key of contentKeys(known).toSorted()) {
    const { rows } = await sql<{ reserved: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended(${key}, 18)) as reserved`.execute(trx)
    if (rows[0]?.reserved !== true) return false
  }
  return true
}
