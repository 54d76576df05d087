import { Argument, type Command, Option } from 'commander'
import { ADMIN_SECRETS_HELP, REFERENCES } from '../help.ts'
import type { GlobalOptions } from '../settings.ts'
import type { Terminal } from '../terminal.ts'
import { collect, readDays, readEnvironment, readExpiry, readLength, readText } from '../values.ts'
import { adminSecretCommands as commands, type DetailOptions } from './secrets.ts'

const envOption = (description: string): Option => new Option('--env <name>', description).argParser(readEnvironment)
const environment = (name: string, description: string): Argument =>
  new Argument(`<${name}>`, description).argParser((text: string) => readEnvironment(text, undefined))

/** @param removal whether the command can also remove details */
function addDetails(command: Command, removal = false): Command {
  const described: readonly [flag: string, option: Option][] = [
    ['note', new Option('--note <text>', 'Note about the secret, up to 500 characters').argParser(readText)],
    ['owner', new Option('--owner <name>', 'Person or team that owns the secret').argParser(readText)],
    [
      'expires',
      new Option('--expires <time>', 'When the value must be replaced; a duration such as 90d, or a time').argParser(
        readExpiry,
      ),
    ],
  ]
  for (const [flag, option] of described) {
    command.addOption(option)
    if (removal) command.option(`--no-${flag}`, `Remove the ${flag === 'expires' ? 'expiry' : flag}`)
  }
  return command
}

/**
 * Adds the commands for the secrets of a project, of which administrators and editors never see values.
 *
 * @param exit sets the exit status
 * @returns the command `secrets`
 */
export function addAdminSecrets(admin: Command, terminal: Terminal, exit: (status: number) => void): Command {
  const secrets = admin
    .command('secrets')
    .description('Manage the secrets of projects without reading their values')
    .addHelpText('after', ADMIN_SECRETS_HELP)
  secrets
    .command('list <project>', { isDefault: true })
    .description('List the IDs, keys and details of secrets')
    .addOption(envOption('Only this environment'))
    .action((project: string, _options, command: Command) =>
      commands.list(project, command.optsWithGlobals(), terminal),
    )
  addDetails(
    secrets
      .command('set <project> <key>')
      .description('Store a secret from standard input, a prompt or a file')
      .addOption(envOption('Environment; production by default'))
      .option('--from-file <path>', 'File to store')
      .option('--references', REFERENCES),
  ).action((project: string, key: string, _options, command: Command) =>
    commands.set(project, key, command.optsWithGlobals(), terminal),
  )
  addDetails(
    secrets
      .command('generate <project> <key>')
      .description('Store a random value, which is not shown')
      .addOption(envOption('Environment; production by default'))
      .addOption(new Option('--length <count>', 'Number of characters; 32 by default').argParser(readLength))
      .addOption(
        new Option('--charset <name>', 'Set of characters; alphanumeric by default').choices([
          ...['alphanumeric', 'hex', 'base64url', 'ascii-printable'],
        ]),
      )
      .addOption(new Option('--characters <text>', 'The characters themselves, each once').argParser(readText)),
  ).action((project: string, key: string, _options, command: Command) =>
    commands.generate(project, key, command.optsWithGlobals(), terminal),
  )
  addDetails(
    secrets.command('annotate <secret>').description('Change the note, the owner and the expiry of a secret by its ID'),
    true,
  ).action((id: string, _options, command: Command) =>
    commands.annotate(id, command.optsWithGlobals<GlobalOptions & DetailOptions>(), terminal),
  )
  secrets
    .command('compare <project>')
    .description('Show which keys are missing in one of two environments')
    .addArgument(environment('left', 'Environment'))
    .addArgument(environment('right', 'Environment to compare it with'))
    .option('--exit-code', 'Exit with 1 if they differ')
    .action(async (project: string, left: string, right: string, _options, command: Command) =>
      exit(await commands.compare({ project, left, right }, command.optsWithGlobals(), terminal)),
    )
  secrets
    .command('copy <project>')
    .description('Copy secrets to another environment; those that exist there are kept')
    .addArgument(environment('from', 'Environment to copy from'))
    .addArgument(environment('to', 'Environment to copy to'))
    .addOption(new Option('--only <key>', 'Only this secret; repeatable').argParser(collect))
    .option('--overwrite', 'Overwrite secrets that exist in both')
    .option('--yes', 'Skip the confirmation prompt')
    .action((project: string, from: string, to: string, _options, command: Command) =>
      commands.copy({ project, from, to }, command.optsWithGlobals(), terminal),
    )
  secrets
    .command('expiring')
    .description('List secrets of all projects that are overdue or expire soon')
    .addOption(new Option('--days <count>', 'Days ahead').argParser(readDays).default('30'))
    .action((_options, command: Command) => commands.expiring(command.optsWithGlobals(), terminal))
  return secrets
}
