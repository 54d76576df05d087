import { type CommandOutcome, captureCommand } from '@vault-and-tracker/dev-env'
import { type Command, runCommand } from '@vault-and-tracker/service-kit/lifecycle/command'
import { auditCommand } from '../../src/commands/audit.command.ts'
import { rowsCommand } from '../../src/commands/rows.command.ts'
import { type TestVault, vaultEnv } from './vault.ts'

const run =
  (command: Command) =>
  (vault: Pick<TestVault, 'database' | 'redisUrl'>, ...args: string[]): Promise<CommandOutcome> => {
    const env = vaultEnv({ databaseUrl: vault.database.appUrl, redisUrl: vault.redisUrl })
    return captureCommand((terminal) => runCommand(command, terminal), { args, env })
  }

/** Runs the command `rows` with the database and the keyring of a vault. */
export const rows = run(rowsCommand)

/** Runs the command `audit` with the database and the keyring of a vault. */
export const audit = run(auditCommand)
