import { errorCode } from '@vault-and-tracker/service-kit/core/errors'
import { sql, type UpdateObject } from 'kysely'
import type { Db, Schema } from '../db/schema.ts'
import type { NameFields } from '../releases/search-words.ts'
import type { ExternalIds } from '../search/listed-torrent.ts'
import type { ReindexStore } from './reindex.ts'
import { releaseRow, searchColumn } from './torrent-rows.store.ts'

/** The SQLSTATE class of errors caused by a value. */
const DATA_EXCEPTION = '22'

/** Torrents in Postgres that an older parser version has indexed. */
export function createReindexStore(db: Db): ReindexStore {
  return {
    reindex: ({ version, limit, read }) =>
      db.transaction().execute(async (trx) => {
        const outdated = await trx
          .selectFrom('torrents')
          .select(['id', 'name', 'imdb_id as imdb', 'tmdb_id as tmdb', 'tvdb_id as tvdb'])
          .where('reader_version', '<', version)
          .orderBy('reader_version')
          .limit(limit)
          .forUpdate()
          .skipLocked()
          .execute()
        const unreadable: { id: string; error: unknown }[] = []
        for (const { id, name, ...externalIds } of outdated) {
          const failure = await failureOf(trx, () =>
            update(trx, id, { ...columnsOf(read(name), externalIds), reader_version: version }),
          )
          if (failure === undefined) continue
          unreadable.push({ id, error: failure.error })
          await update(trx, id, { reader_version: version })
        }
        return { found: outdated.length, unreadable }
      }),
  }
}

/** The columns derived from a name and ids. */
function columnsOf({ release, tokens }: NameFields, externalIds: ExternalIds): UpdateObject<Schema, 'torrents'> {
  return { ...releaseRow({ release, externalIds }), search: searchColumn(tokens) }
}

async function update(trx: Db, id: string, columns: UpdateObject<Schema, 'torrents'>): Promise<void> {
  await trx.updateTable('torrents').set(columns).where('id', '=', id).execute()
}

/**
 * Runs changes in a savepoint, so that the transaction continues without them if a value makes them fail.
 *
 * @returns the error, if a value caused it
 * @throws every other error of Postgres
 */
async function failureOf(trx: Db, change: () => Promise<void>): Promise<{ readonly error: unknown } | undefined> {
  await sql`savepoint change`.execute(trx)
  try {
    await change()
  } catch (error) {
    if (errorCode(error)?.startsWith(DATA_EXCEPTION) === false) throw error
    await sql`rollback to savepoint change`.execute(trx)
    return { error }
  }
  await sql`release savepoint change`.execute(trx)
  return undefined
}
