import { chownSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withClient } from '@vault-and-tracker/service-kit/postgres/provision'
import { postgresAccount } from '../postgres/account.ts'
import { removeTemporaryFolder, temporaryFolder } from '../postgres/temporary-folder.ts'
import { startProcess } from '../processes/managed-process.ts'
import { freePort } from '../processes/ports.ts'
import { requireProgram } from '../processes/programs.mjs'

/** A PgBouncer in transaction mode. */
export type PgBouncer = {
  /** The URL of the database, through PgBouncer. */
  readonly url: string
  stop(): Promise<void>
}

/**
 * Starts a PgBouncer in front of a database, in transaction mode, with fewer connections to Postgres than clients. Other
 * settings have their defaults.
 *
 * @param databaseUrl with the role of the service
 */
export async function startPgBouncer(databaseUrl: string): Promise<PgBouncer> {
  const folder = temporaryFolder('pgbouncer')
  const account = postgresAccount()
  const port = await freePort()
  const url = new URL(databaseUrl)
  const configFile = join(folder, 'pgbouncer.ini')
  const usersFile = join(folder, 'users.txt')
  write(usersFile, [`"${decodeURIComponent(url.username)}" "${decodeURIComponent(url.password)}"`])
  write(configFile, [
    '[databases]',
    `* = host=${url.hostname} port=${url.port}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = scram-sha-256',
    `auth_file = ${usersFile}`,
    'pool_mode = transaction',
    'default_pool_size = 2',
  ])
  const through = Object.assign(new URL(url), { port: String(port) }).href
  const server = await startProcess({
    name: 'PgBouncer',
    command: await requireProgram('pgbouncer'),
    args: [configFile],
    env: { LC_ALL: 'C', TZ: 'UTC' },
    cwd: '/',
    // It does not run as root.
    account,
    logFile: join(folder, 'pgbouncer.log'),
    pidFile: join(folder, 'process.json'),
    stopSignal: 'SIGINT',
    graceMs: 5_000,
    phase: 1,
    answers: () => withClient(through, () => Promise.resolve(true)).catch(() => false),
  })
  return {
    url: through,
    stop: async () => {
      await server.stop()
      removeTemporaryFolder(folder)
    },
  }

  function write(file: string, lines: readonly string[]): void {
    writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 })
    if (account !== undefined) chownSync(file, account.uid, account.gid)
  }
}
