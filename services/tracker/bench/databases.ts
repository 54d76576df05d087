import { createTestDatabase, startDurableServers } from '@vault-and-tracker/dev-env'
import pg from 'pg'
import { migrate } from '../src/db/migrations.ts'
import { uuidOf } from './numbering.ts'

export type Databases = Awaited<ReturnType<typeof startDatabases>>

/** A Postgres with the tracker's tables and a Redis, both as durable as in production. */
export async function startDatabases() {
  const servers = await startDurableServers('bench')
  const { appUrl, adminUrl } = await createTestDatabase({
    service: 'tracker',
    server: servers.postgres,
    migrate: async (target) => {
      await migrate(target)
    },
  })
  const client = new pg.Client({ connectionString: adminUrl })
  // Stopping Postgres after a failure must not hide the failure.
  client.on('error', () => undefined)
  await client.connect()
  return {
    client,
    folder: servers.folder,
    databaseUrl: appUrl,
    redisUrl: servers.redis.url,
    redisPid: servers.redis.pid,
    postgresPid: servers.postgres.pid,

    /** Adds users 0 to n - 1, with passkeys and ids according to numbering.ts. */
    addUsers: async (count: number): Promise<void> => {
      await client.query(
        `insert into users (id, username, email, password_hash, passkey, created_at)
         select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'user-' || n, n || '@example.org', 'none',
           lpad(to_hex(n), 40, '0'), now()
         from generate_series(0, $1::int - 1) as n`,
        [count],
      )
    },

    /** Adds torrents 0 to n - 1 unless they exist, like uploads do. */
    addTorrents: async (count: number): Promise<void> => {
      await client.query(
        `insert into categories (id, slug, name, torznab_id, created_at) values ($1, 'tv', 'TV', 5000, now())
         on conflict do nothing`,
        [uuidOf(1)],
      )
      await client.query(
        `insert into torrents (id, info_hash, name, category_id, size, file_count, search, created_at)
         select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
           decode(lpad(to_hex(n % 256), 2, '0') || lpad(to_hex(n), 8, '0'), 'hex') || 'bench-info-hash'::bytea,
           'torrent ' || n, $2, 1, 1, '', now()
         from generate_series(0, $1::int - 1) as n on conflict do nothing`,
        [count, uuidOf(1)],
      )
      // Without statistics, the trigger of the next statement would read all torrents for each row.
      await client.query('analyze torrents')
      await client.query('insert into torrent_stats (torrent_id) select id from torrents on conflict do nothing')
      await client.query('analyze')
    },

    async stop(): Promise<void> {
      await client.end()
      await servers.stop()
    },
  }
}
