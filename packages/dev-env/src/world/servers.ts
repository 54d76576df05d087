import { join } from 'node:path'
import { startPostgres } from '../postgres/postgres.ts'
import { freePort, portIsFree } from '../processes/ports.ts'
import { startRedis } from '../redis/redis.ts'
import type { WorldOptions } from './options.ts'
import type { StateFile } from './state.ts'

const START = { postgres: startPostgres, redis: startRedis }

/** A server that the services use, with a call-back for when it ends without having been stopped. */
export interface Server {
  url: string
  isPrivate: boolean
  onUnexpectedExit(report: (logTail: string) => void): void
}

/** The server that the user names, or a private one whose data is kept. */
export async function ensureServer(
  kind: keyof typeof START,
  given: string | undefined,
  { dataDir }: Pick<WorldOptions, 'dataDir'>,
  { state, save }: StateFile,
): Promise<Server> {
  if (given !== undefined) return { url: given, isPrivate: false, onUnexpectedExit: () => undefined }
  // The same port as last time, so that open clients can reconnect, unless another program uses it.
  const last = state.ports[kind]
  const port = last !== undefined && (await portIsFree(last)) ? last : await freePort()
  const server = await START[kind]({ dataDir: join(dataDir, kind), port, durable: true })
  state.ports[kind] = server.port
  save()
  return {
    url: server.url,
    isPrivate: true,
    onUnexpectedExit: (report) => server.onUnexpectedExit((_exit, logTail) => report(logTail)),
  }
}
