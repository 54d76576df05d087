import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { reaper } from '../processes/reaper.ts'
import { canEnter, postgresAccount, sharedFolder } from './account.ts'

/** A folder for temporary data, including that of servers. It is deleted when this process ends, at the latest. */
export function temporaryFolder(purpose: string): string {
  const account = postgresAccount()
  const base = canEnter(tmpdir(), account) ? tmpdir() : sharedFolder('tmp')
  const folder = mkdtempSync(join(base, `dev-env-${purpose}-`))
  // The account that runs Postgres must be able to enter, but not to list the folder.
  if (account !== undefined) chmodSync(folder, 0o711)
  reaper().order({ remove: folder })
  return folder
}

/** Deletes such a folder now. */
export function removeTemporaryFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
}
