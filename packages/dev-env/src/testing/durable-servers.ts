import { join } from 'node:path'
import type { PrivateServer } from '../databases/private-server.ts'
import { startPostgres } from '../postgres/postgres.ts'
import { removeTemporaryFolder, temporaryFolder } from '../postgres/temporary-folder.ts'
import { startRedis } from '../redis/redis.ts'

/** A Postgres and a Redis for one test, which lose nothing when they are killed. */
export type DurableServers = {
  /** A temporary folder, with their data. */
  readonly folder: string
  readonly postgres: PrivateServer
  readonly redis: PrivateServer
  /** Stops both and deletes their data. */
  stop(): Promise<void>
}

/** @param purpose a word in the name of their temporary folder */
export async function startDurableServers(purpose: string): Promise<DurableServers> {
  const folder = temporaryFolder(purpose)
  const [postgres, redis] = await Promise.all([
    startPostgres({ dataDir: join(folder, 'postgres'), durable: true }),
    startRedis({ dataDir: join(folder, 'redis'), durable: true }),
  ])
  return {
    folder,
    postgres,
    redis,
    stop: async () => {
      await Promise.all([postgres.stop(), redis.stop()])
      removeTemporaryFolder(folder)
    },
  }
}
