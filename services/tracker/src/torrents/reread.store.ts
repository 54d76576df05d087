import { errorCode } from '@vault-and-tracker/service-kit/core/errors'
import { sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import type { NameFields } from '../releases/search-words.ts'
import type { RereadStore } from './reread.ts'
import { releaseRow } from './torrent-rows.store.ts'

type Outdated = { readonly id: string; readonly name: string }

/** The SQLSTATE class of errors caused by a value. */
const DATA_EXCEPTION = '22'

/** Torrents in Postgres that an older parser version has indexed. */
export function createRereadStore(db: Db): RereadStore {
  return {
    reread: ({ version, limit, read }) =>
      db.transaction().execute(async (trx) => {
        const outdated = await trx
          .selectFrom('torrents')
          .select(['id', 'name'])
          .where('reader_version', '<', version)
          .orderBy('reader_version')
          .limit(limit)
          .forUpdate()
          .skipLocked()
          .execute()
        const update = async (names: readonly Outdated[]): Promise<void> =>
          updateRows(
            trx,
            names.map(({ id, name }) => rowOf(id, read(name), version)),
          )
        const unreadable: { id: string; error: unknown }[] = []
        // One statement for the batch. If it fails, one statement per name finds the culprit.
        if (outdated.length > 0 && (await failureOf(trx, () => update(outdated))) !== undefined)
          for (const name of outdated) {
            const failure = await failureOf(trx, () => update([name]))
            if (failure === undefined) continue
            unreadable.push({ id: name.id, error: failure.error })
            await trx.updateTable('torrents').set({ reader_version: version }).where('id', '=', name.id).execute()
          }
        return { found: outdated.length, unreadable }
      }),
  }
}

/** The columns derived from a name. */
function rowOf(id: string, { release, tokens }: NameFields, version: number) {
  return { id, tokens, ...releaseRow(release), reader_version: version }
}

async function updateRows(trx: Db, rows: readonly ReturnType<typeof rowOf>[]): Promise<void> {
  await sql`
    update torrents set (
      release_title, release_year, season_from, season_to, episode_from, episode_to, air_date, resolution,
      source, codec, release_group, absolute_from, absolute_to, hdr, audio, channels, languages, editions,
      is_proper, is_repack, reader_version, search
    ) = (
      new.release_title, new.release_year, new.season_from, new.season_to, new.episode_from, new.episode_to,
      new.air_date, new.resolution, new.source, new.codec, new.release_group, new.absolute_from,
      new.absolute_to, new.hdr, new.audio, new.channels, new.languages, new.editions, new.is_proper,
      new.is_repack, new.reader_version, array_to_tsvector(new.tokens)
    )
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as new (
      id uuid, release_title text, release_year smallint, season_from smallint, season_to smallint,
      episode_from integer, episode_to integer, air_date date, resolution text, source text, codec text,
      release_group text, absolute_from integer, absolute_to integer, hdr text[], audio text[], channels text,
      languages text[], editions text[], is_proper boolean, is_repack boolean, reader_version smallint,
      tokens text[]
    )
    where torrents.id = new.id`.execute(trx)
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
