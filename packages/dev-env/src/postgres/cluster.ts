import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { keptPassword } from '../databases/private-server.ts'
import { type Account, canEnter, postgresAccount, sharedFolder } from './account.ts'
import { postgresPrograms } from './installation.ts'
import { removeTemporaryFolder, temporaryFolder } from './temporary-folder.ts'

/** A Postgres data directory that is ready to be started. */
export type Cluster = {
  folder: string
  /** The folder of the PostgreSQL programs. */
  programs: string
  account: Account | undefined
  /** The password of the superuser `postgres`. */
  password: string
}

/** Creates the cluster below `dataDir` unless it exists. */
export function prepareCluster(dataDir: string, durable: boolean): Cluster {
  const place = join(dataDir, 'cluster')
  const account = ownerOf(place) ?? postgresAccount()
  // The account must be able to enter this folder to reach the cluster, but not to list it.
  const isNew = fs.mkdirSync(dataDir, { recursive: true }) !== undefined
  if (isNew) fs.chmodSync(dataDir, account === undefined ? 0o700 : 0o711)
  const password = keptPassword(dataDir)
  const programs = postgresPrograms(account)
  if (!fs.existsSync(join(place, 'PG_VERSION'))) create(place, { programs, account, password }, durable)
  // `place` can be a link, which the account may not be able to follow.
  const folder = fs.realpathSync(place)
  if (!canEnter(folder, account)) {
    throw new Error(`the user postgres cannot enter ${folder}: move it back, or delete it`)
  }
  removeStaleLock(folder)
  return { folder, programs, account, password }
}

/** A cluster that an ordinary user has created runs as that user, even if root starts it. */
function ownerOf(place: string): Account | undefined {
  const owner = process.getuid?.() === 0 ? fs.statSync(place, { throwIfNoEntry: false }) : undefined
  return owner === undefined || owner.uid === 0 ? undefined : { uid: owner.uid, gid: owner.gid }
}

/**
 * Creates a cluster at `place` for the account that will run it. If the account cannot enter the folder, for example below
 * /root, the cluster is created in /var/lib and `place` becomes a link to it. Permissions of existing folders do not change.
 * The cluster appears when it is complete, and the rest of an interrupted attempt is removed.
 */
function create(place: string, cluster: Omit<Cluster, 'folder'>, durable: boolean): void {
  const { account } = cluster
  const isOpen = canEnter(dirname(place), account)
  const id = createHash('sha256').update(place).digest('hex').slice(0, 16)
  const home = isOpen ? place : join(sharedFolder('clusters'), id)
  const draft = `${home}.draft`
  for (const left of [draft, home, place]) fs.rmSync(left, { recursive: true, force: true })
  fs.mkdirSync(draft, { mode: 0o700 })
  if (account !== undefined) fs.chownSync(draft, account.uid, account.gid)
  initialise({ ...cluster, folder: draft }, durable)
  fs.renameSync(draft, home)
  if (!isOpen) fs.symlinkSync(home, place)
}

function initialise({ folder, programs, account, password }: Cluster, durable: boolean): void {
  const secretFolder = temporaryFolder('initdb')
  const secret = join(secretFolder, 'password')
  fs.writeFileSync(secret, password, { mode: 0o600 })
  if (account !== undefined) fs.chownSync(secret, account.uid, account.gid)
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
  const env = { LC_ALL: 'C', TZ: 'UTC' }
  const made = spawnSync(join(programs, 'initdb'), args, { encoding: 'utf8', env, ...account, cwd: '/' })
  removeTemporaryFolder(secretFolder)
  if (made.status !== 0) throw new Error(`initdb failed: ${made.error?.message ?? made.stderr}`)
}

/**
 * A power failure leaves a postmaster.pid behind. If another process gets that pid later, Postgres refuses to start. The
 * file is removed unless the process with that pid is a Postgres server of this folder.
 */
function removeStaleLock(folder: string): void {
  const lock = join(folder, 'postmaster.pid')
  // Without /proc, Postgres decides.
  if (process.platform !== 'linux' || !fs.existsSync(lock)) return
  const pid = fs.readFileSync(lock, 'utf8').split('\n')[0]
  try {
    // The working directory of a Postgres server is its data directory.
    if (fs.readlinkSync(`/proc/${pid}/cwd`) === folder) return
  } catch {
    // The process has ended, or belongs to a user who cannot have started our server.
  }
  fs.rmSync(lock, { force: true })
}
