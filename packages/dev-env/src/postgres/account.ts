import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Fault } from '../processes/command.mjs'

// Only root needs this folder, and only root can write to it, so no other user can place files or links there.
const SHARED = '/var/lib/vault-and-tracker-dev'

/** The user that a process runs as. */
export type Account = { uid: number; gid: number }

/**
 * Postgres refuses to run as root. Root therefore runs it as the system user `postgres`, which is created if it is missing.
 * Other users run it themselves, and have no account.
 */
export function postgresAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  const found = findAccount()
  if (found !== undefined) return found
  const args = ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres']
  const { stderr, error } = spawnSync('/usr/sbin/useradd', args, { encoding: 'utf8' })
  const created = findAccount()
  if (created !== undefined) return created
  throw new Fault(
    `Postgres cannot run as root, and the system user postgres could not be created: ${error?.message ?? stderr}`,
  )
}

function findAccount(): Account | undefined {
  const id = (flag: string): number =>
    Number(execFileSync('id', [flag, 'postgres'], { stdio: ['ignore', 'pipe', 'ignore'] }))
  try {
    return { uid: id('-u'), gid: id('-g') }
  } catch {
    return undefined
  }
}

/** Whether the account may enter a folder. A clone below /root, for example, can only be entered by root. */
export function canEnter(folder: string, account: Account | undefined): boolean {
  if (account === undefined) return true
  return spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...account, stdio: 'ignore', cwd: '/' }).status === 0
}

/** A folder in /var/lib that every account can enter, regardless of root's umask. */
export function sharedFolder(purpose: string): string {
  const folder = join(SHARED, purpose)
  for (const one of [SHARED, folder]) {
    mkdirSync(one, { recursive: true })
    chmodSync(one, 0o711)
  }
  return folder
}
