import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { reaper } from '../processes/reaper.ts'
import { becomeGuest } from '../testing/guest.ts'
import { canEnter, postgresAccount } from './account.ts'
import { shelter } from './reachable.ts'

/** A folder for throw-away data, servers included, that is deleted at the latest when this process is gone. */
export function temporaryFolder(purpose: string): string {
  becomeGuest()
  const account = postgresAccount()
  const base = canEnter(tmpdir(), account) ? tmpdir() : shelter('tmp')
  const folder = mkdtempSync(join(base, `dev-env-${purpose}-`))
  // The account that runs Postgres must pass through, but need not see what else is there.
  if (account !== undefined) chmodSync(folder, 0o711)
  reaper().remove(folder)
  return folder
}

/** Deletes such a folder now. */
export function removeTemporaryFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  reaper().keep(folder)
}
