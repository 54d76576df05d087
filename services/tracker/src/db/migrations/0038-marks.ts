import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  // The marks of a torrent, beside its other terms, whose function the previous release calls. A missing mark has a term too,
  // because an index cannot find what lacks a term.
  `create function mark_facets(download_percent smallint, internal boolean, scene boolean)
  returns tsvector language sql immutable parallel safe cost 10000
  return array_to_tsvector(array[
    case when download_percent = 0 then '#free' else '#paid' end,
    case when internal then '#internal' else '#external' end,
    case when scene then '#scene' else '#unscene' end
  ])`,
  // Built alongside the old one, so that searches go on. Uploads wait: a minute for a million torrents.
  `create index torrents_search_new on torrents using gin (
      search, facets, word_beginnings(search),
      release_facets(resolution, source, codec, hdr, audio, languages, download_percent, uploader_id, size, created_at),
      mark_facets(download_percent, internal, scene)
    ) with (fastupdate = off) where deleted_at is null and state = 'approved'`,
  'analyze torrents',
  'drop index torrents_search',
  'alter index torrents_search_new rename to torrents_search',
]

/** What filters by rates, internal and scene releases need. */
export const marks: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
