import { type Kysely, type Migration, sql } from 'kysely'

/** How long the receivers of webhooks take to respond; null before the first response. */
export const webhookPace: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table webhooks add column response_ms integer`.execute(db)
  },
}
