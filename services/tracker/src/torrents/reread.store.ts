import { sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import type { RereadStore } from './reread.ts'
import { releaseRow } from './torrent-rows.store.ts'

/** Names in Postgres that an older version has read. */
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
        if (outdated.length === 0) return 0
        const rows = outdated.map(({ id, name }) => {
          const { release, tokens } = read(name)
          return { id, tokens, ...releaseRow(release), reader_version: version }
        })
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
        return outdated.length
      }),
  }
}
