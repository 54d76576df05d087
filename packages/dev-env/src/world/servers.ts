import { join } from 'node:path'
import { startPostgres } from '../postgres/postgres.ts'
import { freePort, portIsFree } from '../processes/ports.ts'
import { startRedis } from '../redis/redis.ts'
import type { WorldOptions } from './options.ts'
import type { StateFile } from './state.ts'

/** A server the services use, and how to hear that it ended although nobody stopped it. */
export interface Server {
  url: string
  isPrivate: boolean
  onUnexpectedExit(report: (logTail: string) => void): void
}

/** The Postgres of DATABASE_URL, or a private one whose data is kept. */
export async function ensurePostgres({ dataDir, databaseUrl }: WorldOptions, file: StateFile): Promise<Server> {
  if (databaseUrl !== undefined) return given(databaseUrl)
  const port = await keptPort(file.state.ports.postgres)
  const server = await startPostgres({ dataDir: join(dataDir, 'postgres'), port, durable: true })
  file.state.ports.postgres = server.port
  file.save()
  return {
    url: server.url,
    isPrivate: true,
    onUnexpectedExit: (report) => server.onUnexpectedExit((_exit, logTail) => report(logTail)),
  }
}

/** The Redis of REDIS_URL, or a private one whose data is kept. */
export async function ensureRedis({ dataDir, redisUrl }: WorldOptions, file: StateFile): Promise<Server> {
  if (redisUrl !== undefined) return given(redisUrl)
  const port = await keptPort(file.state.ports.redis)
  const server = await startRedis({ dataDir: join(dataDir, 'redis'), port, durable: true })
  file.state.ports.redis = server.port
  file.save()
  return {
    url: server.url,
    isPrivate: true,
    onUnexpectedExit: (report) => server.onUnexpectedExit((_exit, logTail) => report(logTail)),
  }
}

function given(url: string): Server {
  return { url, isPrivate: false, onUnexpectedExit: () => undefined }
}

/** The port of last time, so that a client the user left open finds its server again, unless somebody took it. */
async function keptPort(port: number | undefined): Promise<number> {
  return port !== undefined && (await portIsFree(port)) ? port : await freePort()
}
