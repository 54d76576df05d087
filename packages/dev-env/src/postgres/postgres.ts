import { join, resolve } from 'node:path'
import { withClient } from '@vault-and-tracker/service-kit/postgres/provision'
import type { PrivateServer, ServerOptions } from '../databases/private-server.ts'
import { startProcess } from '../processes/managed-process.ts'
import { freePort } from '../processes/ports.ts'
import { stopLeftover } from '../processes/stop.mjs'
import { type Cluster, prepareCluster } from './cluster.ts'

const SETTINGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=300', 'timezone=UTC']
const THROWAWAY = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'autovacuum=off',
  'shared_buffers=64MB',
]

/** Starts a private PostgreSQL 18 on 127.0.0.1 and returns when it answers. */
export async function startPostgres(options: ServerOptions): Promise<PrivateServer> {
  const dataDir = resolve(options.dataDir)
  const pidFile = join(dataDir, 'process.json')
  // A server of an earlier run may still be writing the cluster.
  await stopLeftover(pidFile)
  const cluster = prepareCluster(dataDir, options.durable)
  const port = options.port ?? (await freePort())
  const url = `postgres://postgres:${cluster.password}@127.0.0.1:${port}/postgres`
  const server = await startProcess({
    name: 'Postgres',
    command: join(cluster.programs, 'postgres'),
    args: serverArguments(cluster, port, options.durable),
    env: { LC_ALL: 'C', TZ: 'UTC' },
    cwd: '/',
    account: cluster.account,
    logFile: join(dataDir, 'postgres.log'),
    pidFile,
    // Postgres' fast shutdown disconnects clients and writes everything.
    stopSignal: 'SIGINT',
    graceMs: 10_000,
    phase: 2,
    answers: () => withClient(url, () => Promise.resolve(true)).catch(() => false),
  })
  return Object.assign(server, { port, url })
}

function serverArguments({ folder }: Cluster, port: number, durable: boolean): string[] {
  const settings = [...SETTINGS, `port=${port}`, ...(durable ? [] : THROWAWAY)]
  return ['-D', folder, ...settings.flatMap((setting) => ['-c', setting])]
}
