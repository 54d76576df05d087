import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  // Search terms of the filters of a list. As word_beginnings, they are only in the index, so neither torrents nor the
  // statements of the previous release have to change. Sizes and times are steps, powers of two from 1 MiB to 1 TiB, years
  // and months, so that ranges are a few terms. The cost keeps the planner from computing them row by row.
  `create function release_facets(
    resolution text, source text, codec text, hdr text[], audio text[], languages text[],
    download_percent smallint, uploader_id uuid, size bigint, created_at timestamptz
  ) returns tsvector language sql immutable parallel safe cost 10000 as $$
    select array_to_tsvector(array_remove(
      array[
        '#r' || resolution, '#o' || source, '#v' || codec, '#u' || uploader_id::text,
        case when download_percent = 0 then '#free' end,
        '#z' || width_bucket(size, array[
          ${Array.from({ length: 21 }, (_, power) => 2 ** (20 + power)).join(', ')}
        ]::bigint[]),
        '#k' || extract(year from created_at at time zone 'UTC'),
        '#k' || (
          extract(year from created_at at time zone 'UTC') * 100 + extract(month from created_at at time zone 'UTC')
        )
      ]
      || array(select '#h' || value from unnest(hdr) as value)
      || array(select '#a' || value from unnest(audio) as value)
      || array(select '#l' || value from unnest(languages) as value),
      null
    ))
  $$`,
  // Built alongside the old one, so that searches go on. Uploads wait: a minute for a million torrents.
  `create index torrents_search_new on torrents using gin (
      search, facets, word_beginnings(search),
      release_facets(resolution, source, codec, hdr, audio, languages, download_percent, uploader_id, size, created_at)
    ) with (fastupdate = off) where deleted_at is null and state = 'approved'`,
  'analyze torrents',
  'drop index torrents_search',
  'alter index torrents_search_new rename to torrents_search',
]

/** What filters of the list need. */
export const filters: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
