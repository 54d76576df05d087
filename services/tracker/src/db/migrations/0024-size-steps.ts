import { type Kysely, type Migration, sql } from 'kysely'

/** Eight equal steps in each of the steps of the migration `filters`, from 1 MiB on. */
const FINE_STEPS = Array.from({ length: 20 * 8 + 1 }, (_, step) => 2 ** (17 + Math.floor(step / 8)) * (8 + (step % 8)))

const STATEMENTS = [
  // The ends of a range of sizes are in these steps. In a whole power of two, half of the torrents may be outside of the
  // range, and each of them would be read. All earlier terms remain, for the previous release.
  `create or replace function release_facets(
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
        '#f' || width_bucket(size, array[${FINE_STEPS.join(', ')}]::bigint[]),
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

/** What filters by size need to read few torrents outside of their range. */
export const sizeSteps: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
