import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  'alter table site_settings add column client_rules text[] check (cardinality(client_rules) <= 100)',
  `create table client_days (
    day date not null,
    client text not null check (length(client) between 1 and 20),
    peers integer not null check (peers > 0),
    users integer not null check (users >= 0),
    primary key (day, client)
  )`,
]

/** Rules about clients, and the clients of each day. */
export const clientRules: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
