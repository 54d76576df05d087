import { createTestDatabase, startPostgres, startRedis } from '@vault-and-tracker/dev-env'
import { Redis } from 'ioredis'
import pg from 'pg'
import { migrate } from '../src/db/migrations.ts'

export type Databases = Awaited<ReturnType<typeof startDatabases>>

/** A private Postgres with the tracker's tables and a private Redis, both as durable as in production. */
export async function startDatabases(folder: string) {
  const postgres = await startPostgres({ dataDir: `${folder}/postgres`, durable: true })
  const redisServer = await startRedis({ dataDir: `${folder}/redis`, durable: true })
  const { appUrl, adminUrl } = await createTestDatabase({
    service: 'tracker',
    server: postgres,
    migrate: async (target) => {
      await migrate(target)
    },
  })
  const client = new pg.Client({ connectionString: adminUrl })
  // Stopping Postgres after a failure must not hide it.
  client.on('error', () => undefined)
  await client.connect()
  const { rows } = await client.query<{ text: string }>(`select pg_read_file('postmaster.pid') as text`)
  return {
    /** A connection of the owner. */
    client,
    databaseUrl: appUrl,
    adminUrl,
    postgresPid: Number(rows[0]?.text.split('\n')[0]),
    redisUrl: redisServer.url,
    redisPid: await pidOf(redisServer.url),

    /** Adds users 0 to n - 1, whose passkeys are their numbers as hex, and ids as `uuidOf` makes them. */
    addUsers: async (count: number): Promise<void> => {
      await client.query(
        `insert into users (id, username, email, password_hash, passkey, created_at)
         select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'user-' || n, n || '@example.org', 'none',
           lpad(to_hex(n), 40, '0'), now()
         from generate_series(0, $1::int - 1) as n`,
        [count],
      )
    },

    async stop(): Promise<void> {
      await client.end()
      await redisServer.stop()
      await postgres.stop()
    },
  }
}

async function pidOf(redisUrl: string): Promise<number> {
  const redis = new Redis(redisUrl)
  const info = await redis.info('server')
  redis.disconnect()
  return Number(/process_id:(\d+)/.exec(info)?.[1])
}
