import { types } from 'node:util'
import { Argument, Command, CommanderError, Option } from 'commander'
import { VaultError } from '../client/errors.ts'
import { FORMATS } from '../formats/formats.ts'
import { addAdmin, yesOption } from './admin/program.ts'
import type { Command as ChildCommand } from './child.ts'
import { completionScript, SHELLS, type Shell } from './completions.ts'
import { EXCHANGE_HELP, EXPORT_HELP, GET_HELP, HELP, REFERENCES, RUN_HELP, SET_HELP } from './help.ts'
import { exchangeToFile, keygen, login, logout, publicKey, whoami } from './identity.ts'
import { type RunOptions, run } from './run.ts'
import * as secrets from './secrets.ts'
import { environmentOf, type GlobalOptions } from './settings.ts'
import { CommandError, jsonLine, printableLines, type Terminal, tell, UsageError } from './terminal.ts'
import { collect, readDuration, readEnvironment, readObjectName, readSignal, readText } from './values.ts'

/**
 * Runs one command line.
 *
 * @returns the exit status
 */
export async function runVaultCommand(terminal: Terminal, version: string): Promise<number> {
  const state = { status: 0 }
  const program = vaultProgram(terminal, version, (status) => {
    state.status = status
  })
  try {
    await program.parseAsync(terminal.args, { from: 'user' })
    return state.status
  } catch (error) {
    return fail(error, terminal, program)
  }
}

type Failure = { readonly status: number; readonly error: string; readonly message: string }

function fail(error: unknown, terminal: Terminal, program: Command): number {
  if (error instanceof CommanderError && error.exitCode === 0) return 0
  const { stderr, args } = terminal
  const { status, message, error: code } = failureOf(error)
  if (wantsJson(args)) stderr.write(jsonLine({ error: code, message }))
  // Commander has already reported command lines that it cannot parse.
  else if (!(error instanceof CommanderError))
    tell(terminal, error instanceof VaultError ? `${message} (${code})` : message)
  const isHelpShown = error instanceof CommanderError && error.code === 'commander.help'
  if (status === 2 && !isHelpShown && !wantsJson(args))
    stderr.write(`Run '${commandOf(program, args)} --help' for usage.\n`)
  return status
}

/** The longest valid command in the arguments, such as `vault admin projects`. */
function commandOf(program: Command, args: readonly string[]): string {
  const names = [program.name()]
  let command = program
  for (const word of args) {
    const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word))
    if (next === undefined) continue
    names.push(next.name())
    command = next
  }
  return names.join(' ')
}

function failureOf(error: unknown): Failure {
  if (error instanceof CommanderError)
    return { status: 2, error: 'usage', message: error.message.replace(/^error: /, '') }
  if (error instanceof UsageError) return { status: 2, error: 'usage', message: error.message }
  if (error instanceof CommandError) return { status: error.status, error: error.code, message: error.message }
  if (error instanceof VaultError) return { status: 1, error: error.code, message: error.message }
  return { status: 1, error: 'failed', message: types.isNativeError(error) ? error.message : 'unknown error' }
}

/** Works even if the command line cannot be parsed. Arguments after `--` belong to the command of `run`. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return args.slice(0, end === -1 ? undefined : end).includes('--json')
}

function vaultProgram(terminal: Terminal, version: string, exit: (status: number) => void): Command {
  const program = new Command('vault')
    .description('Manage the secrets of a project, and run programs with them.')
    .version(version, '-V, --version', 'Show the version')
    .helpOption('-h, --help', 'Show help')
    .helpCommand('help [command]', 'Show help for a command')
    .addHelpText('after', HELP)
    .configureOutput({
      writeOut: (text) => void terminal.stdout.write(text),
      writeErr: (text) => {
        if (!wantsJson(terminal.args)) terminal.stderr.write(printableLines(text))
      },
      outputError: (text, write) => write(text.replace(/^error: /, 'vault: ')),
    })
    .configureHelp({
      showGlobalOptions: true,
      visibleGlobalOptions: (command) => (command.parent === null ? [] : [...globalOptions()]),
      subcommandTerm: (command) =>
        [[command.name(), ...command.aliases()].join(', '), ...command.registeredArguments.map(argumentText)].join(' '),
      styleTitle: (title) => title.replace('Global Options:', 'Global flags:').replace('Options:', 'Flags:'),
      styleUsage: (usage) => usage.replaceAll('[options]', '[flags]'),
    })
    .enablePositionalOptions()
    .exitOverride()
  for (const option of globalOptions()) program.addOption(option)
  // A command inherits these settings when it is created, so they come first.
  addIdentity(program, terminal)
  addSecrets(program, terminal, exit)
  addRun(program, terminal, exit)
  addAdmin(program, terminal, exit)
  addCompletions(program, terminal)
  for (const command of program.commands) addGlobalOptions(command)
  return program
}

function globalOptions(): readonly Option[] {
  return [
    new Option('--profile <name>', 'Profile saved by vault login').argParser(readText),
    new Option('--url <url>', 'URL of the vault').argParser(readText),
    new Option('--project <name>', 'Name of the project').argParser(readText),
    new Option('--key-file <path>', 'File that contains the private key of the project').argParser(readText),
    new Option('--oidc', 'Exchange an ID token of this platform for a short-lived key'),
    new Option('--id-token-file <path>', 'File that contains the ID token; implies --oidc').argParser(readText),
    new Option('--timeout <time>', 'Limit for each attempt of a request; 10s by default').argParser(readDuration),
    new Option('--json', 'Print results and errors as JSON'),
  ]
}

function argumentText(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`
  return argument.required ? `<${name}>` : `[${name}]`
}

/**
 * Options are positional because those after the command of `run` belong to it. Global options are allowed anywhere.
 */
function addGlobalOptions(command: Command): void {
  for (const option of globalOptions()) command.addOption(option.hideHelp())
  for (const each of command.commands) addGlobalOptions(each)
}

/** The options of a command, with its environment. */
async function withEnv<Options extends GlobalOptions>(
  command: Command,
  terminal: Terminal,
): Promise<Options & { env: string }> {
  const options = command.optsWithGlobals<Options & { env?: string }>()
  return { ...options, env: await environmentOf(options, terminal) }
}

const envOption = (): Option =>
  new Option('--env <name>', 'Environment; production by default').argParser(readEnvironment)
const repeatable = (flags: string, description: string): Option =>
  new Option(flags, `${description}; repeatable`).argParser(collect)
const selectionOptions = (): readonly Option[] => [
  repeatable('--only <key>', 'Only this secret'),
  repeatable('--except <key>', 'All secrets except this one'),
]
const allowOption = (): Option =>
  repeatable('--allow <name>', 'Variable to set although it can make programs run other code')

function addAll(command: Command, options: readonly Option[]): Command {
  for (const option of options) command.addOption(option)
  return command
}

function addIdentity(program: Command, terminal: Terminal): void {
  program
    .command('keygen')
    .description('Create a key pair')
    .option('--output <file>', 'New file for the private key, readable only by you; prints the public key')
    .addOption(new Option('--format <format>', 'Format of the private key; jwk by default').choices(['jwk', 'pem']))
    .action((_options, command: Command) => keygen(command.optsWithGlobals(), terminal))
  program
    .command('public-key')
    .description('Print the public key of a private key')
    .addArgument(
      new Argument(
        '[file]',
        'File that contains the private key, or - for standard input; the configured key by default',
      ),
    )
    .addOption(new Option('--format <format>', 'Format; hex by default').choices(['hex', 'jwk', 'pem']))
    .action((file: string | undefined, _options, command: Command) =>
      publicKey(file, command.optsWithGlobals(), terminal),
    )
  program
    .command('exchange')
    .description('Exchange an ID token for a key that several commands can use')
    .requiredOption('--output <file>', 'New file for the private key, readable only by you')
    .addHelpText('after', EXCHANGE_HELP)
    .action((_options, command: Command) => exchangeToFile(command.optsWithGlobals(), terminal))
  program
    .command('login')
    .description('Save the URL, the project and the path of its key in a profile')
    .addOption(envOption())
    .option('--no-check', 'Save the profile without a request to the vault')
    .action((_options, command: Command) => login(command.optsWithGlobals(), terminal))
  program
    .command('logout')
    .description('Delete a profile; the key file is kept')
    .action((_options, command: Command) => logout(command.optsWithGlobals(), terminal))
  program
    .command('whoami')
    .description('Show the project and key in use, and check that the vault accepts them')
    .addOption(envOption())
    .action(async (_options, command: Command) => whoami(await withEnv(command, terminal), terminal))
}

function addSecrets(program: Command, terminal: Terminal, exit: (status: number) => void): void {
  const format = (otherwise: string): Option =>
    new Option('--format <format>', `Output format; ${otherwise}`).choices(FORMATS)
  const output = (): Option => new Option('--output <file>', 'File to write, readable only by you').argParser(readText)
  const name = (): Option => new Option('--name <name>', 'Name of the Kubernetes Secret').argParser(readObjectName)
  addAll(
    program
      .command('get')
      .description('Print the value of a secret, or all secrets')
      .argument('[key]', 'Key of the secret'),
    [envOption(), format('json by default'), ...selectionOptions(), allowOption(), output(), name()],
  )
    .option('--no-newline', 'No line break after the value')
    .addHelpText('after', GET_HELP)
    .action(async (key: string | undefined, _options, command: Command) =>
      secrets.get(key, await withEnv(command, terminal), terminal),
    )
  program
    .command('list')
    .description('Print the keys of an environment')
    .addOption(envOption())
    .action(async (_options, command: Command) => secrets.list(await withEnv(command, terminal), terminal))
  program
    .command('set')
    .alias('put')
    .description('Store a secret from standard input, a prompt or a file')
    .argument('<key>', 'Key of the secret')
    .addOption(envOption())
    .option('--from-file <path>', 'File to store')
    .option('--value <value>', 'Value to store; other users of this machine can see it')
    .option('--references', REFERENCES)
    .addHelpText('after', SET_HELP)
    .action(async (key: string, _options, command: Command) =>
      secrets.set(key, await withEnv(command, terminal), terminal),
    )
  program
    .command('rm')
    .description('Delete a secret')
    .argument('<key>', 'Key or ID of the secret')
    .addOption(envOption())
    .addOption(yesOption())
    .action(async (which: string, _options, command: Command) =>
      secrets.remove(which, await withEnv(command, terminal), terminal),
    )
  program
    .command('import')
    .description('Store the secrets of a .env or JSON file')
    .argument('<file>', 'File to import, or - for standard input')
    .addOption(envOption())
    .addOption(yesOption())
    .action(async (file: string, _options, command: Command) =>
      secrets.importFile(file, await withEnv(command, terminal), terminal),
    )
  addAll(program.command('export').description('Print all secrets in a format of your choice'), [
    ...[
      envOption(),
      format('dotenv by default, json with --json'),
      ...selectionOptions(),
      allowOption(),
      output(),
      name(),
    ],
  ])
    .option('--allow-empty', 'Export even if the environment has no secrets')
    .addHelpText('after', EXPORT_HELP)
    .action(async (_options, command: Command) => secrets.exportSecrets(await withEnv(command, terminal), terminal))
  program
    .command('diff')
    .description('Show which keys differ between two environments')
    .addOption(
      new Option('--env <name>', 'Environment; use this flag twice').argParser((text, previous?: readonly string[]) =>
        collect(readEnvironment(text, undefined), previous),
      ),
    )
    .option('--exit-code', 'Exit with 1 if they differ')
    .action(async (_options, command: Command) => exit(await secrets.diff(command.optsWithGlobals(), terminal)))
}

function addRun(program: Command, terminal: Terminal, exit: (status: number) => void): void {
  addAll(
    program
      .command('run')
      .description('Run a command with secrets in its environment')
      .usage('[flags] -- <command> [arguments...]')
      .addArgument(new Argument('<command...>', 'Command to run, without a shell').default(undefined)),
    [
      envOption(),
      ...selectionOptions(),
      allowOption(),
      repeatable('--preserve-env <name>', 'Variable to keep from the calling environment if it is set'),
    ],
  )
    .option('--allow-empty', 'Run the command even if the environment has no secrets')
    .option('--watch', 'Restart the command when secrets change')
    .option('--watch-signal <signal>', 'Signal to send instead of a restart', readSignal)
    .addOption(
      new Option('--interval <time>', 'Longest wait after an error, and time between reads of an older vault')
        .argParser(readDuration)
        .default(30, '30s'),
    )
    .option('--redact', 'Replace secret values in the output of the command')
    .option('--offline-fallback', 'Keep an encrypted copy for when the vault cannot be reached')
    .addOption(
      new Option('--max-age <time>', 'Maximum age of that copy').argParser(readDuration).default(86_400, '24h'),
    )
    .addHelpText('after', RUN_HELP)
    .passThroughOptions()
    .action(async (words: string[], _options, command: Command) => {
      exit(await run(words as unknown as ChildCommand, await withEnv<RunOptions>(command, terminal), terminal))
    })
}

function addCompletions(program: Command, terminal: Terminal): void {
  program
    .command('completions')
    .description('Print a completion script')
    .addArgument(new Argument('<shell>', 'Shell').choices(SHELLS))
    .addHelpText('after', '\nExamples:\n  $ source <(vault completions bash)\n  $ vault completions fish | source\n')
    .action((shell: Shell) => void terminal.stdout.write(completionScript(program, shell)))
}
