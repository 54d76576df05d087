import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  // Samples of all swarms together, one a minute; hours and days are sums of samples, so that an average is a sum divided
  // by `samples`. Minutes are kept for days, hours for months, days permanently: one row a day.
  `create table swarm_samples (
    span text collate "C" not null check (span in ('minute', 'hour', 'day')),
    start timestamptz not null,
    samples integer not null,
    swarms bigint not null,
    seeders bigint not null,
    leechers bigint not null,
    announces bigint not null,
    refused bigint not null,
    primary key (span, start)
  ) with (fillfactor = 80)`,

  // What each user transferred on each day in UTC, in bytes; no row for a day without transfer. No foreign key, for the
  // reason that user_torrents has none.
  `create table user_days (
    user_id uuid not null,
    day date not null,
    uploaded bigint not null check (uploaded >= 0),
    downloaded bigint not null check (downloaded >= 0),
    uploaded_actual bigint not null check (uploaded_actual >= 0),
    downloaded_actual bigint not null check (downloaded_actual >= 0),
    primary key (user_id, day)
  ) with (fillfactor = 80)`,
  // Rows are added in the order of their days, and deleted by day: a BRIN index finds them at nearly no cost.
  'create index user_days_day on user_days using brin (day)',
]

/** Samples of the swarms, and what users transferred by day. */
export const statistics: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
