import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  // Suggestions. A trusted extension: the owner of the database may create it (Postgres 13), where it is installed.
  'create extension if not exists pg_trgm',

  `alter table torrents
    add absolute_from integer,
    add absolute_to integer,
    add hdr text[] not null default '{}',
    add audio text[] not null default '{}',
    add channels text,
    add languages text[] not null default '{}',
    add editions text[] not null default '{}',
    add is_proper boolean not null default false,
    add is_repack boolean not null default false,
    add reader_version smallint not null default 0`,

  // Search conditions other than words, as lexemes that cannot be words, which contain only letters and digits.
  // In one index with the words, any mix of conditions is one intersection of sorted lists inside of the index: there
  // is no plan that reads a million rows because two common conditions never apply together.
  // A range has at most 2,000 numbers, which no real name exceeds.
  `create function torrent_facets(
    category_id uuid, imdb_id integer, tmdb_id integer, tvdb_id integer, release_year smallint,
    season_from smallint, season_to smallint, episode_from integer, episode_to integer,
    absolute_from integer, absolute_to integer, air_date date
  ) returns tsvector language sql immutable parallel safe as $$
    select array_to_tsvector(array_remove(
      array[
        '#c' || category_id::text, '#i' || imdb_id, '#m' || tmdb_id, '#t' || tvdb_id, '#y' || release_year,
        '#d' || (extract(year from air_date) * 10000 + extract(month from air_date) * 100 + extract(day from air_date)),
        '#s' || extract(year from air_date)
      ]
      || case when season_from is not null then array(
        select '#s' || season from generate_series(season_from, least(season_to, season_from + 1999)) as season
      ) end
      || case when episode_from is not null then array(
        select unnest(array['#e' || episode, '#s' || season || 'e' || episode])
        from generate_series(episode_from, least(episode_to, episode_from + 1999)) as episode
          left join generate_series(season_from, least(season_to, season_from + 9)) as season on true
      ) end
      || case when absolute_from is not null then array(
        select '#a' || episode from generate_series(absolute_from, least(absolute_to, absolute_from + 1999)) as episode
      ) end,
      null
    ))
  $$`,
  `alter table torrents add facets tsvector not null generated always as (torrent_facets(
    category_id, imdb_id, tmdb_id, tvdb_id, release_year, season_from, season_to, episode_from, episode_to,
    absolute_from, absolute_to, air_date
  )) stored`,
  'drop index torrents_search',
  `create index torrents_search on torrents using gin (search, facets) with (fastupdate = off)
    where deleted_at is null and state = 'approved'`,
  'create index torrents_category_size on torrents (category_id, state, size desc, id desc) where deleted_at is null',
  'create index torrents_reader on torrents (reader_version)',

  // Sorted by counts within each category, because a list of one category must not walk through all others. Only
  // listed torrents have a row. Triggers maintain this, whichever release of the service writes.
  'alter table torrent_stats add listed_in uuid',
  `create function set_listed_in() returns trigger language plpgsql as $$
    begin
      new.listed_in := (
        select category_id from torrents where id = new.torrent_id and deleted_at is null and state = 'approved'
      );
      return new;
    end
  $$`,
  `create trigger torrent_stats_listed_in before insert on torrent_stats
    for each row execute function set_listed_in()`,
  `create function update_listed_in() returns trigger language plpgsql as $$
    begin
      update torrent_stats
      set listed_in = case when new.deleted_at is null and new.state = 'approved' then new.category_id end
      where torrent_id = new.id;
      return null;
    end
  $$`,
  `create trigger torrents_listed_in after update of category_id, state, deleted_at on torrents
    for each row execute function update_listed_in()`,
  `update torrent_stats set listed_in = category_id from torrents
    where id = torrent_id and deleted_at is null and state = 'approved'`,
  'drop index torrent_stats_seeders',
  'drop index torrent_stats_leechers',
  `create index torrent_stats_seeders on torrent_stats (listed_in, seeders desc, torrent_id desc)
    where listed_in is not null`,
  `create index torrent_stats_leechers on torrent_stats (listed_in, leechers desc, torrent_id desc)
    where listed_in is not null`,

  // Words that names have, for suggestions; numbers and short words are too much like many others.
  'create table search_words (word text primary key)',
  `create function add_search_words() returns trigger language plpgsql as $$
    begin
      insert into search_words (word)
      select lexeme from unnest(new.search) where lexeme ~ '^[^0-9]{4,40}$'
      on conflict do nothing;
      return null;
    end
  $$`,
  `create trigger torrents_search_words after insert or update of search on torrents
    for each row execute function add_search_words()`,
  `insert into search_words (word)
    select word from ts_stat('select search from torrents') where word ~ '^[^0-9]{4,40}$'`,
  'create index search_words_trigrams on search_words using gin (word gin_trgm_ops) with (fastupdate = off)',
]

/** What search needs: more facts from release names, one index for words and all other conditions, suggestions. */
export const search: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
