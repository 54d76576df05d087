import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { identityOf } from '../processes/identity.mjs'
import { type Account, canEnter, postgresAccount } from './account.ts'
import { type PostgresBinaries, postgresBinaries } from './binaries.ts'
import { placeCluster } from './reachable.ts'
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
  const place = join(dataDir, 'cluster')
  const account = ownerOf(place) ?? postgresAccount()
  // The account must be able to enter this folder to reach the cluster, but not to list it.
  const isNew = mkdirSync(dataDir, { recursive: true }) !== undefined
  if (isNew) chmodSync(dataDir, account === undefined ? 0o700 : 0o711)
  const passwordFile = join(dataDir, 'password')
  if (!existsSync(passwordFile)) writeFileSync(passwordFile, randomBytes(24).toString('hex'), { mode: 0o600 })
  const password = readFileSync(passwordFile, 'utf8').trim()
  const binaries = postgresBinaries(account)
  if (!existsSync(join(place, 'PG_VERSION'))) {
    placeCluster(place, account, (folder) => initialise({ folder, binaries, account, password }, durable))
  }
  // `place` can be a link, which the account may not be able to follow.
  const folder = realpathSync(place)
  if (!canEnter(folder, account)) {
    throw new Error(`the user postgres cannot enter ${folder}: move it back to its first location, or delete it`)
  }
  removeStaleLock(folder)
  return { folder, binaries, account, password }
}

/** A cluster that an ordinary user has made is run as that user, also when root starts it. */
function ownerOf(place: string): Account | undefined {
  const owner = process.getuid?.() === 0 ? statSync(place, { throwIfNoEntry: false }) : undefined
  return owner === undefined || owner.uid === 0 ? undefined : { uid: owner.uid, gid: owner.gid }
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
    // The C.UTF-8 of Postgres supports all of Unicode and does not depend on the locales of the machine.
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
 * A power failure leaves a postmaster.pid behind, and after the restart another process can have the pid in it. Postgres
 * then refuses to start. The file is removed when the process with that pid is no Postgres server of this folder.
 */
function removeStaleLock(folder: string): void {
  const lock = join(folder, 'postmaster.pid')
  if (!existsSync(lock)) return
  const pid = Number(readFileSync(lock, 'utf8').split('\n')[0])
  if (identityOf(pid) === undefined || !worksIn(pid, folder)) rmSync(lock, { force: true })
}

/** Whether a process is a Postgres server of this folder: its working directory is the data directory. */
function worksIn(pid: number, folder: string): boolean {
  // Without /proc this cannot be known; Postgres decides.
  if (process.platform !== 'linux') return true
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === folder
  } catch {
    // The process has just ended, or belongs to a user who cannot have started our server.
    return false
  }
}
