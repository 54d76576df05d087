import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { identityOf } from '../../reaper/identity.mjs'
import { type Account, postgresAccount } from './account.ts'
import { type PostgresBinaries, postgresBinaries } from './binaries.ts'
import { giveFolder } from './reachable.ts'
import { removeTemporaryFolder, temporaryFolder } from './temporary-folder.ts'

/** A Postgres data directory that is ready to be started. */
export interface Cluster {
  folder: string
  binaries: PostgresBinaries
  account: Account | undefined
  /** Of the superuser `postgres`. */
  password: string
}

/** Creates the cluster below `dataDir` if there is none yet, and reads its password if there is one. */
export function prepareCluster(dataDir: string, durable: boolean): Cluster {
  const account = postgresAccount()
  // Others must pass through this folder to reach the cluster, but need not see what is in it.
  mkdirSync(dataDir, { recursive: true, mode: account === undefined ? 0o700 : 0o711 })
  const folder = join(dataDir, 'cluster')
  const passwordFile = join(dataDir, 'password')
  const binaries = postgresBinaries(account)
  if (!existsSync(passwordFile) || !existsSync(join(folder, 'PG_VERSION'))) {
    // The password is written last, so a folder without one is what an interrupted initdb left.
    if (existsSync(folder)) rmSync(folder, { recursive: true })
    giveFolder(folder, account)
    const password = randomBytes(24).toString('hex')
    initialise({ folder, binaries, account, password }, durable)
    writeFileSync(passwordFile, password, { mode: 0o600 })
  }
  removeStaleLock(folder)
  return { folder, binaries, account, password: readFileSync(passwordFile, 'utf8').trim() }
}

function initialise({ folder, binaries, account, password }: Cluster, durable: boolean): void {
  const secretFolder = temporaryFolder('initdb')
  const secret = join(secretFolder, 'password')
  writeFileSync(secret, password, { mode: 0o600 })
  if (account !== undefined) chownSync(secret, account.uid, account.gid)
  const args = [
    `--pgdata=${folder}`,
    '--username=postgres',
    `--pwfile=${secret}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--no-locale',
    // Postgres' own C.UTF-8 knows all of Unicode and does not depend on what locales the machine has.
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    ...(durable ? [] : ['--no-sync', '--no-data-checksums']),
  ]
  const made = spawnSync(binaries.initdb, args, {
    encoding: 'utf8',
    env: { LC_ALL: 'C', TZ: 'UTC' },
    ...account,
    cwd: '/',
  })
  removeTemporaryFolder(secretFolder)
  if (made.status !== 0) throw new Error(`initdb failed: ${made.error?.message ?? made.stderr}`)
}

/**
 * A machine that lost power leaves a postmaster.pid behind, and after a restart any process can have got its number;
 * Postgres then refuses to start. The file is removed when what runs under that number is not a server of this folder.
 */
function removeStaleLock(folder: string): void {
  const lock = join(folder, 'postmaster.pid')
  if (!existsSync(lock)) return
  const pid = Number(readFileSync(lock, 'utf8').split('\n')[0])
  if (identityOf(pid) === undefined || !isServerOf(pid)) rmSync(lock, { force: true })
}

function isServerOf(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('postgres')
  } catch {
    // Without /proc the doubt is Postgres' to resolve.
    return true
  }
}
