import { join } from 'node:path'
import { withClient } from '@vault-and-tracker/service-kit/postgres/provision'
import pg from 'pg'
import { withDatabase } from '../databases/admin.ts'
import type { PrivateServer } from '../databases/private-server.ts'
import { startPostgres } from '../postgres/postgres.ts'
import { removeTemporaryFolder, temporaryFolder } from '../postgres/temporary-folder.ts'
import { startRedis } from '../redis/redis.ts'
import { newRunId, runPrefix, type TestRun } from './test-run.ts'

/** The servers of one test run. */
export type TestServers = {
  readonly run: TestRun
  /** Drops the databases of the run and begins another one, so that changed migrations are applied. */
  renew(): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts a temporary Postgres and Redis for a test run. TEST_DATABASE_URL and TEST_REDIS_URL name servers to use instead; the
 * run drops what it created there. If one server does not start, the reaper stops the other when this process ends.
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
  const newRun = (): TestRun => ({ id: newRunId(), adminUrl, redisUrl: redisUrl.replace(/\/+$/, '') })
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

/** Drops all databases and roles of a run. */
async function dropRun(run: TestRun): Promise<void> {
  await withClient(withDatabase(run.adminUrl, 'postgres'), async (admin) => {
    const namesOf = async (query: string): Promise<string[]> =>
      (await admin.query<{ name: string }>(query, [runPrefix(run)])).rows.map(({ name }) => pg.escapeIdentifier(name))
    for (const name of await namesOf('select datname as name from pg_database where starts_with(datname, $1)')) {
      await admin.query(`alter database ${name} is_template false`)
      await admin.query(`drop database ${name} with (force)`)
    }
    for (const name of await namesOf('select rolname as name from pg_roles where starts_with(rolname, $1)'))
      await admin.query(`drop role ${name}`)
  })
}
