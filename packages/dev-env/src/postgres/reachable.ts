import { createHash } from 'node:crypto'
import { chownSync, cpSync, existsSync, lstatSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type Account, canEnter } from './account.ts'

// Only root ever needs this place, and only root can write there, so nobody else can lay anything in our way.
export const SHELTER = '/var/lib/vault-and-tracker-dev'

/**
 * Gives the folder of a cluster to the account that runs it. Below a folder that is closed to that account, such as
 * /root, the cluster lives in the shelter and `folder` is a link to it: we never open what is not ours to open.
 */
export function giveFolder(folder: string, account: Account | undefined): void {
  if (account === undefined || canEnter(dirname(folder), account)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (account !== undefined) chownSync(folder, account.uid, account.gid)
    return
  }
  if (lstatSync(folder, { throwIfNoEntry: false }) !== undefined) return
  const id = createHash('sha256').update(folder).digest('hex').slice(0, 16)
  const sheltered = join(SHELTER, 'clusters', id)
  // No link points here, so this is what is left of a folder that was deleted.
  rmSync(sheltered, { recursive: true, force: true })
  mkdirSync(sheltered, { recursive: true })
  chownSync(sheltered, account.uid, account.gid)
  symlinkSync(sheltered, folder)
}

/** The Postgres installation itself, or a copy in the shelter when the account can not enter where it is. */
export function reachableInstallation(installation: string, version: string, account: Account | undefined): string {
  if (canEnter(join(installation, 'bin'), account)) return installation
  const copy = join(SHELTER, `postgresql-${version}`)
  if (existsSync(copy)) return copy
  const draft = `${copy}.${process.pid}`
  mkdirSync(dirname(draft), { recursive: true })
  cpSync(installation, draft, { recursive: true, verbatimSymlinks: true })
  try {
    renameSync(draft, copy)
  } catch (error) {
    // Another process was quicker; its copy is as good as ours.
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(copy)) throw new Error(`could not copy ${basename(installation)} to ${copy}`, { cause: error })
  }
  return copy
}
