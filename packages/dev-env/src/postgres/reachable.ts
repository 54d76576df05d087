import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Account, canEnter } from './account.ts'

// Only root ever needs this place, and only root can write there, so nobody else can lay anything in our way.
const SHELTER = '/var/lib/vault-and-tracker-dev'

/** A folder of the shelter that every account can pass through, whatever root's umask is. */
export function shelter(purpose: string): string {
  const folder = join(SHELTER, purpose)
  for (const one of [SHELTER, folder]) {
    mkdirSync(one, { recursive: true })
    chmodSync(one, 0o711)
  }
  return folder
}

/**
 * Has `create` make a cluster at a place, for the account that will run it. Below a folder that is closed to that
 * account, such as /root, the cluster goes to the shelter and `place` becomes a link to it: we never open what is not
 * ours to open. A cluster only appears when it is complete; what an interrupted attempt left is swept away.
 */
export function settle(place: string, account: Account | undefined, create: (folder: string) => void): void {
  const isOpen = canEnter(dirname(place), account)
  const id = createHash('sha256').update(place).digest('hex').slice(0, 16)
  const home = isOpen ? place : join(shelter('clusters'), id)
  const draft = `${home}.draft`
  for (const left of [draft, home, place]) rmSync(left, { recursive: true, force: true })
  mkdirSync(draft, { mode: 0o700 })
  if (account !== undefined) chownSync(draft, account.uid, account.gid)
  create(draft)
  renameSync(draft, home)
  if (!isOpen) symlinkSync(home, place)
}

/** The Postgres installation itself, or a copy in the shelter when the account can not enter where it is. */
export function reachableInstallation(installation: string, version: string, account: Account | undefined): string {
  if (canEnter(join(installation, 'bin'), account)) return installation
  const copy = join(shelter('installations'), `postgresql-${version}`)
  if (existsSync(copy)) return copy
  const draft = `${copy}.${process.pid}`
  cpSync(installation, draft, { recursive: true, verbatimSymlinks: true })
  execFileSync('chmod', ['-R', 'a+rX', draft])
  try {
    renameSync(draft, copy)
  } catch (cause) {
    // Another process was quicker; its copy is as good as ours.
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(copy)) throw new Error(`could not copy ${installation} to ${copy}`, { cause })
  }
  return copy
}
