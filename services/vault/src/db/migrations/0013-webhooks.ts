import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  // After failures, no delivery of a webhook is attempted before `retry_at`.
  `create table webhooks (
    id uuid primary key,
    project_uid uuid not null references projects on delete cascade,
    url text collate "C" not null,
    enabled boolean not null,
    revision bigint not null,
    created_at timestamptz not null,
    failures integer not null default 0,
    retry_at timestamptz,
    code bytea not null
  )`,
  'create index webhooks_project_uid on webhooks (project_uid)',
  // Written in the transaction of the change; a waiting delivery has a time in `next_at`. Afterwards it is the log.
  `create table webhook_deliveries (
    id uuid primary key,
    webhook_id uuid not null references webhooks on delete cascade,
    event text collate "C" not null,
    payload text not null,
    created_at timestamptz not null,
    attempts integer not null default 0,
    next_at timestamptz,
    leased_until timestamptz,
    delivered_at timestamptz,
    http_status integer,
    problem text,
    code bytea not null
  )`,
  'create index webhook_deliveries_webhook_id on webhook_deliveries (webhook_id, id)',
  'create index webhook_deliveries_waiting on webhook_deliveries (webhook_id, next_at) where next_at is not null',
  // An earlier URL cannot be put back, nor a deleted webhook.
  `create trigger webhooks_mark after insert or update of url, enabled, revision, code on webhooks
    for each row execute function raise_mark('id', 'webhook', 'revision')`,
  `create trigger webhooks_deleted before delete on webhooks
    for each row execute function close_marks('id', 'webhook')`,
]

/** Webhooks, and the events to deliver to them. */
export const webhooks: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
