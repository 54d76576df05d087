import { join } from 'node:path'
import pg from 'pg'
import { withClient, withDatabase } from '../databases/admin.ts'
import { type PrivatePostgres, startPostgres } from '../postgres/postgres.ts'
import { removeTemporaryFolder, temporaryFolder } from '../postgres/temporary-folder.ts'
import { type PrivateRedis, startRedis } from '../redis/redis.ts'
import { runPrefix } from './test-database.ts'
import { newRunId, type TestRun } from './test-run.ts'

/** The servers of one test run. */
export interface TestServers {
  readonly run: TestRun
  /** Drops what the run created and begins another run, so that changed migrations are applied. */
  renew(): Promise<void>
  stop(): Promise<void>
}

/**
 * One temporary Postgres and Redis for a whole test run. TEST_DATABASE_URL and TEST_REDIS_URL name servers to use
 * instead; on those, what the run created is dropped again at the end.
 */
export async function startTestServers(env: NodeJS.ProcessEnv = process.env): Promise<TestServers> {
  const { TEST_DATABASE_URL: givenPostgres, TEST_REDIS_URL: givenRedis } = env
  const folder = temporaryFolder('run')
  const [postgres, redis] = await bothOrNeither(
    given(givenPostgres) ?? startPostgres({ dataDir: join(folder, 'postgres'), durable: false }),
    given(givenRedis) ?? startRedis({ dataDir: join(folder, 'redis'), durable: false }),
  )
  const newRun = (): TestRun => ({
    id: newRunId(),
    adminUrl: postgres.url,
    redisUrl: redis.url.replace(/\/+$/, ''),
    folder,
  })
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
      if (!isPrivate(postgres)) await dropRun(run)
      await Promise.all([postgres, redis].filter(isPrivate).map((server) => server.stop()))
      removeTemporaryFolder(folder)
    },
  }
}

interface GivenServer {
  url: string
}

type AnyServer = GivenServer | PrivatePostgres | PrivateRedis

function given(url: string | undefined): Promise<GivenServer> | undefined {
  return url === undefined || url === '' ? undefined : Promise.resolve({ url })
}

function isPrivate(server: AnyServer): server is PrivatePostgres | PrivateRedis {
  return 'stop' in server
}

async function bothOrNeither(first: Promise<AnyServer>, second: Promise<AnyServer>): Promise<[AnyServer, AnyServer]> {
  const results = await Promise.allSettled([first, second])
  const failed = results.find((result) => result.status === 'rejected')
  if (failed === undefined) return await Promise.all([first, second])
  for (const result of results) {
    if (result.status === 'fulfilled' && isPrivate(result.value)) await result.value.stop()
  }
  throw failed.reason instanceof Error ? failed.reason : new Error(String(failed.reason))
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
