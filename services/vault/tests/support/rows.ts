import { type CommandOutcome, captureCommand } from '@vault-and-tracker/dev-env'
import { runCommand } from '@vault-and-tracker/service-kit/command'
import { rowsCommand } from '../../src/commands/rows.command.ts'
import { type TestVault, vaultEnv } from './vault.ts'

/** Runs the command `rows` with the database and the keyring of a vault. */
export function rows(vault: TestVault, ...args: string[]): Promise<CommandOutcome> {
  const env = vaultEnv({ databaseUrl: vault.database.appUrl, redisUrl: vault.redisUrl })
  return captureCommand((terminal) => runCommand(rowsCommand, terminal), { args, env })
}
