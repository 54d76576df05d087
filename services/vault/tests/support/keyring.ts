import { join } from 'node:path'
import {
  type CommandOutcome,
  captureCommand,
  type TestDatabase,
  temporaryFolder,
  testRedis,
} from '@vault-and-tracker/dev-env'
import { runCommand } from '@vault-and-tracker/service-kit/lifecycle/command'
import { keyringCommand } from '../../src/commands/keyring.command.ts'
import { addToKeyringFile } from '../../src/keyring/keyring.file.ts'
import { connectSql, type Sql } from './sql.ts'
import { createVaultDatabase, startVault, type TestVault } from './vault.ts'

/** A database and a keyring file with one key, `k1`. */
export type KeyringFixture = {
  database: TestDatabase
  /** A connection as the owner of the database. */
  sql: Sql
  file: string
  env: Record<string, string>
  /** Runs `keyring` in this process. */
  keys: (...args: string[]) => Promise<CommandOutcome>
  /** Starts a vault with the current keyring. */
  startVault(): Promise<TestVault>
  /** The result of a counting query. */
  count(text: string): Promise<number>
  remove(): Promise<void>
}

/** Runs `keyring` in this process. */
export function runKeyring(args: readonly string[], env: Readonly<Record<string, string>>): Promise<CommandOutcome> {
  return captureCommand((terminal) => runCommand(keyringCommand, terminal), { args, env })
}

export async function createKeyringFixture(): Promise<KeyringFixture> {
  const database = await createVaultDatabase()
  const sql = await connectSql(database.ownerUrl)
  // A restarted vault with an empty Redis would wait, because it has lost its nonces.
  const { url: redisUrl } = await testRedis()
  const folder = temporaryFolder('keyring')
  const file = join(folder, 'keyring.json')
  addToKeyringFile(file, 'k1')
  const env = { DATABASE_URL: database.appUrl, VAULT_KEYRING_FILE: file }
  return {
    database,
    sql,
    file,
    env,
    keys: (...args) => runKeyring(args, env),
    startVault: () =>
      startVault({ VAULT_KEYRING: '', VAULT_KEYRING_ACTIVE: '', VAULT_KEYRING_FILE: file }, { database, redisUrl }),
    count: async (text) => Number((await sql<{ count: string }>(text))[0]?.count),
    remove: async () => {
      await sql.end()
      await database.drop()
    },
  }
}
