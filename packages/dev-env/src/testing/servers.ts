import { join } from 'node:path'
import pg from 'pg'
import { withClient, withDatabase } from '../databases/admin.ts'
import type { PrivateServer } from '../databases/private-server.ts'
import { startPostgres } from '../postgres/postgres.ts'
import { removeTemporaryFolder, temporaryFolder } from '../postgres/temporary-folder.ts'
import { startRedis } from '../redis/redis.ts'
import { newRunId, runPrefix, type TestRun } from './test-run.ts'

/** The servers of one test run. */
export type TestServers = {
  readonly run: TestRun
  /** Drops what the run created and begins another run, so that changed migrations are applied. */
  renew(): Promise<void>
  stop(): Promise<void>
}

/**
 * One temporary Postgres and Redis for a whole test run. TEST_DATABASE_URL and TEST_REDIS_URL name servers to use
 * instead; on those, what the run created is dropped again at the end. If one cannot be started, the reaper stops the
 * other when this process ends.
 */
export async function startTestServers({ TEST_DATABASE_URL, TEST_REDIS_URL } = process.env): Promise<TestServers> {
  const folder = temporaryFolder('run')
  const own: PrivateServer[] = []
  const start = async (which: typeof startPostgres, name: string): Promise<string> => {
    const server = await which({ dataDir: join(folder, name), durable: false })
    own.push(server)
    return server.url
  }
  const [adminUrl, redisUrl] = await Promise.all([
    TEST_DATABASE_URL || start(startPostgres, 'postgres'),
    TEST_REDIS_URL || start(startRedis, 'redis'),
  ])
  const newRun = (): TestRun => ({ id: newRunId(), adminUrl, redisUrl: redisUrl.replace(/\/+$/, ''), folder })
  let run = newRun()
  return {
    get run() {
      return run
    },
    renew: async () => {
      await dropRun(run)
      run = newRun()
    },
    stop: async () => {
      if (TEST_DATABASE_URL) await dropRun(run)
      await Promise.all(own.map((server) => server.stop()))
      removeTemporaryFolder(folder)
    },
  }
}

/** Drops every database and role of a run from a server that keeps running. */
async function dropRun(run: TestRun): Promise<void> {
  await withClient(withDatabase(run.adminUrl, 'postgres'), async (admin) => {
    const mine = [runPrefix(run)]
    const databases = await admin.query<{ name: string }>(
      'select datname as name from pg_database where starts_with(datname, $1)',
      mine,
    )
    for (const { name } of databases.rows) {
      await admin.query(`alter database ${pg.escapeIdentifier(name)} is_template false`)
      await admin.query(`drop database ${pg.escapeIdentifier(name)} with (force)`)
    }
    const roles = await admin.query<{ name: string }>(
      'select rolname as name from pg_roles where starts_with(rolname, $1)',
      mine,
    )
    for (const { name } of roles.rows) await admin.query(`drop role ${pg.escapeIdentifier(name)}`)
  })
}
