import { execFileSync, spawnSync } from 'node:child_process'

/** The user a process runs as. */
export interface Account {
  uid: number
  gid: number
}

/**
 * Postgres refuses to run as root. Root therefore runs it as the system user `postgres`, which is created if it is
 * missing. Other users run it as themselves; then the account is `undefined`.
 */
export function postgresAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  return findAccount() ?? createAccount()
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

function createAccount(): Account {
  const args = ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres']
  const made = spawnSync('/usr/sbin/useradd', args, { encoding: 'utf8' })
  const account = findAccount()
  if (account === undefined) {
    const why = made.error?.message ?? made.stderr
    throw new Error(`Postgres cannot run as root and creating the system user "postgres" failed: ${why}`)
  }
  return account
}

/** Whether the account may enter a folder. A clone below /root, for instance, can only be entered by root. */
export function canEnter(folder: string, account: Account | undefined): boolean {
  if (account === undefined) return true
  return spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...account, stdio: 'ignore', cwd: '/' }).status === 0
}
