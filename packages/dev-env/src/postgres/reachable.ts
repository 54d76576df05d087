import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Account, canEnter } from './account.ts'

// Only root needs this folder and only root can write to it, so no other user can place files or links there.
const SHARED = '/var/lib/vault-and-tracker-dev'

/** A folder there that every account can enter, whatever the umask of root is. */
export function sharedFolder(purpose: string): string {
  const folder = join(SHARED, purpose)
  for (const one of [SHARED, folder]) {
    mkdirSync(one, { recursive: true })
    chmodSync(one, 0o711)
  }
  return folder
}

/**
 * Has `create` make a cluster at `place`, for the account that will run it. Below a folder that the account cannot enter,
 * such as /root, the cluster is made in /var/lib and `place` becomes a link to it; permissions of existing folders are not
 * changed. A cluster appears when it is complete; what an interrupted attempt left is removed.
 */
export function placeCluster(place: string, account: Account | undefined, create: (folder: string) => void): void {
  const isOpen = canEnter(dirname(place), account)
  const id = createHash('sha256').update(place).digest('hex').slice(0, 16)
  const home = isOpen ? place : join(sharedFolder('clusters'), id)
  const draft = `${home}.draft`
  for (const left of [draft, home, place]) rmSync(left, { recursive: true, force: true })
  mkdirSync(draft, { mode: 0o700 })
  if (account !== undefined) chownSync(draft, account.uid, account.gid)
  create(draft)
  renameSync(draft, home)
  if (!isOpen) symlinkSync(home, place)
}

/** The Postgres installation itself, or a copy in /var/lib when the account cannot enter its folder. */
export function reachableInstallation(installation: string, version: string, account: Account | undefined): string {
  if (canEnter(join(installation, 'bin'), account)) return installation
  const copy = join(sharedFolder('installations'), `postgresql-${version}`)
  if (existsSync(copy)) return copy
  const draft = `${copy}.${process.pid}`
  cpSync(installation, draft, { recursive: true, verbatimSymlinks: true })
  execFileSync('chmod', ['-R', 'a+rX', draft])
  try {
    renameSync(draft, copy)
  } catch (cause) {
    // Another process made the same copy at the same time.
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(copy)) throw new Error(`could not copy ${installation} to ${copy}`, { cause })
  }
  return copy
}
