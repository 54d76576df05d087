import { join, resolve } from 'node:path'
import pg from 'pg'
import { stopLeftover } from '../processes/leftovers.mjs'
import { type ManagedProcess, startProcess, untilAnswering } from '../processes/managed-process.ts'
import { freePort } from '../processes/ports.ts'
import { type RestartableProcess, restartable } from '../processes/restartable.ts'
import { type Cluster, prepareCluster } from './cluster.ts'

const SETTINGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200', 'timezone=UTC']
const THROWAWAY = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'autovacuum=off',
  'shared_buffers=64MB',
]

/** The data directory and port of a private Postgres, and whether its data survives a power failure. */
export interface PostgresOptions {
  /** The folder of the cluster, its password and its log. It is created if it is missing. */
  dataDir: string
  /** Any free port when left out. */
  port?: number | undefined
  /** Whether data must survive a power failure. Without it tests are three times as fast. */
  durable: boolean
}

/** A private Postgres server that ends with the process that started it. */
export interface PrivatePostgres extends RestartableProcess {
  port: number
  /** As the superuser, to the database `postgres`. */
  url: string
}

/** Starts a private PostgreSQL 18 on 127.0.0.1 and returns when it answers. */
export async function startPostgres(options: PostgresOptions): Promise<PrivatePostgres> {
  const dataDir = resolve(options.dataDir)
  const pidFile = join(dataDir, 'process.json')
  await stopLeftover(pidFile)
  const cluster = prepareCluster(dataDir, options.durable)
  const port = options.port ?? (await freePort())
  const url = `postgres://postgres:${cluster.password}@127.0.0.1:${port}/postgres`
  const start = async (): Promise<ManagedProcess> => {
    const server = await startProcess({
      name: 'Postgres',
      command: cluster.binaries.postgres,
      args: serverArguments(cluster, port, options.durable),
      env: { LC_ALL: 'C', TZ: 'UTC' },
      cwd: '/',
      account: cluster.account,
      logFile: join(dataDir, 'postgres.log'),
      pidFile,
      // SIGINT is Postgres' fast shutdown: clients are disconnected, everything is written.
      stopSignal: 'SIGINT',
      graceMs: 10_000,
      phase: 2,
    })
    return await untilAnswering(server, () => answers(url))
  }
  return Object.assign(restartable(await start(), start), { port, url })
}

function serverArguments({ folder }: Cluster, port: number, durable: boolean): string[] {
  const settings = [...SETTINGS, `port=${port}`, ...(durable ? [] : THROWAWAY)]
  return ['-D', folder, ...settings.flatMap((setting) => ['-c', setting])]
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}
