import { types } from 'node:util'
import { Argument, Command, CommanderError, Option } from 'commander'
import { VaultError } from '../client/errors.ts'
import { FORMATS } from '../formats/formats.ts'
import { addAdmin, yesOption } from './admin-program.ts'
import type { Command as ChildCommand } from './child.ts'
import { completionScript, SHELLS, type Shell } from './completions.ts'
import { keygen, login, logout, whoami } from './identity.ts'
import { type RunOptions, run } from './run.ts'
import * as secrets from './secrets.ts'
import { environmentOf, type GlobalOptions } from './settings.ts'
import { CommandError, printable, type Terminal, UsageError } from './terminal.ts'
import { readDuration, readObjectName, readSignal } from './values.ts'

const HELP = `
A project is reached with VAULT_URL, VAULT_PROJECT and VAULT_PRIVATE_KEY (a JWK, hex or PEM) or VAULT_PRIVATE_KEY_FILE
(its path), or with a profile that vault login keeps. Administrators use VAULT_ADMIN_TOKEN.

Exit status: 0; 1 when the vault refused or cannot be reached; 2 for a wrong call. run exits as its command did, with 127
when there is no such command and 126 when it cannot be run.`

const HELP_HINT = 'Run vault --help for the commands and variables.'

/**
 * Runs one command line.
 *
 * @returns the exit status: 0, 1 when the vault refused or cannot be reached, 2 for a wrong call; for `run` the command's own
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
    return fail(error, terminal)
  }
}

/** What went wrong, for people or as JSON. */
type Failure = { readonly status: number; readonly error: string; readonly message: string }

function fail(error: unknown, { stderr, args }: Terminal): number {
  if (error instanceof CommanderError && error.exitCode === 0) return 0
  const failure = failureOf(error)
  const { status, message } = failure
  if (wantsJson(args)) stderr.write(`${JSON.stringify({ error: failure.error, message })}\n`)
  // Where the command line cannot be parsed, the library has said so.
  else if (!(error instanceof CommanderError))
    stderr.write(`vault: ${message}${error instanceof VaultError ? ` (${printable(error.code)})` : ''}\n`)
  if (error instanceof UsageError && !wantsJson(args)) stderr.write(`${HELP_HINT}\n`)
  return status
}

function failureOf(error: unknown): Failure {
  if (error instanceof CommanderError)
    return { status: 2, error: 'usage', message: error.message.replace(/^error: /, '') }
  if (error instanceof UsageError) return { status: 2, error: 'usage', message: error.message }
  if (error instanceof CommandError) return { status: error.status, error: 'failed', message: error.message }
  // What a vault or a proxy says is shown to a terminal.
  if (error instanceof VaultError) return { status: 1, error: error.code, message: printable(error.message) }
  return { status: 1, error: 'failed', message: types.isNativeError(error) ? error.message : 'unknown error' }
}

/** Also where the command line could not be parsed. What follows `--` is the command's own. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return args.slice(0, end === -1 ? undefined : end).includes('--json')
}

/** The commands, their arguments and options: what is parsed, what help shows and what shells complete. */
function vaultProgram(terminal: Terminal, version: string, exit: (status: number) => void): Command {
  const program = new Command('vault')
    .description('Secrets of an encrypted vault, for applications and the people who run them.')
    .version(version)
    .addHelpText('after', HELP)
    .configureOutput({
      writeOut: (text) => void terminal.stdout.write(text),
      writeErr: (text) => {
        if (!wantsJson(terminal.args)) terminal.stderr.write(text)
      },
      outputError: (text, write) => write(text.replace(/^error: /, 'vault: ')),
    })
    .showHelpAfterError(HELP_HINT)
    .configureHelp({ showGlobalOptions: true })
    .enablePositionalOptions()
    .exitOverride()
  for (const option of globalOptions()) program.addOption(option)
  // A command inherits these settings where it is made, so they come first.
  addIdentity(program, terminal)
  addSecrets(program, terminal, exit)
  addRun(program, terminal, exit)
  addAdmin(program, terminal)
  addCompletions(program, terminal)
  for (const command of program.commands) addGlobalOptions(command)
  return program
}

function globalOptions(): readonly Option[] {
  return [
    new Option('--profile <name>', 'use this profile of vault login'),
    new Option('--url <url>', 'where the vault is'),
    new Option('--project <name>', "the project's name"),
    new Option('--key-file <path>', "the file of the project's private key"),
    new Option('--json', 'print JSON'),
  ]
}

/** Since what follows `run`'s command is the command's, options are positional; these are allowed at any place. */
function addGlobalOptions(command: Command): void {
  for (const option of globalOptions()) command.addOption(option.hideHelp())
  for (const each of command.commands) addGlobalOptions(each)
}

/** The options of a command, with the environment that it is about. */
async function withEnv<Options extends GlobalOptions>(
  command: Command,
  terminal: Terminal,
): Promise<Options & { env: string }> {
  const options = command.optsWithGlobals<Options & { env?: string }>()
  return { ...options, env: await environmentOf(options, terminal) }
}

const envOption = (): Option => new Option('--env <name>', 'the environment; production by default')

function addIdentity(program: Command, terminal: Terminal): void {
  program
    .command('keygen')
    .description('make a key pair: the private JWK on standard output, the public key on standard error')
    .option('--output <file>', 'write the private key to a new file that only you read; print the public key')
    .action((_options, command: Command) => keygen(command.optsWithGlobals(), terminal))
  program
    .command('login')
    .description('remember url, project and where the key is, after a signed request that worked')
    .addOption(envOption())
    .option('--no-check', 'do not ask the vault')
    .action((_options, command: Command) => login(command.optsWithGlobals(), terminal))
  program
    .command('logout')
    .description('forget a profile')
    .action((_options, command: Command) => logout(command.optsWithGlobals(), terminal))
  program
    .command('whoami')
    .description('show which project and key are used, and whether the vault accepts them')
    .addOption(envOption())
    .action(async (_options, command: Command) => whoami(await withEnv(command, terminal), terminal))
}

function addSecrets(program: Command, terminal: Terminal, exit: (status: number) => void): void {
  const format = (otherwise: string): Option =>
    new Option('--format <format>', `how to print; ${otherwise}`).choices(FORMATS)
  program
    .command('get')
    .description('print all secrets of an environment, or the value of one')
    .argument('[key]')
    .addOption(envOption())
    .addOption(format('json by default'))
    .action(async (key: string | undefined, _options, command: Command) =>
      secrets.get(key, await withEnv(command, terminal), terminal),
    )
  program
    .command('list')
    .description('print the keys of an environment')
    .addOption(envOption())
    .action(async (_options, command: Command) => secrets.list(await withEnv(command, terminal), terminal))
  program
    .command('set')
    .alias('put')
    .description('store what standard input holds, less one final line break, or what is typed')
    .argument('<key>')
    .addOption(envOption())
    .option('--from-file <path>', 'store what the file holds, byte for byte')
    .option('--value <value>', "store this, '' too; others on the machine can see it while the command runs")
    .action(async (key: string, _options, command: Command) =>
      secrets.set(key, await withEnv(command, terminal), terminal),
    )
  program
    .command('rm')
    .description('delete a secret by its id, or with VAULT_ADMIN_TOKEN by its key')
    .argument('<id-or-key>')
    .addOption(envOption())
    .action(async (which: string, _options, command: Command) =>
      secrets.remove(which, await withEnv(command, terminal), terminal),
    )
  program
    .command('import')
    .description('put what a .env or JSON file holds (- for standard input); shows the difference and asks first')
    .argument('<file>')
    .addOption(envOption())
    .addOption(yesOption())
    .action(async (file: string, _options, command: Command) =>
      secrets.importFile(file, await withEnv(command, terminal), terminal),
    )
  program
    .command('export')
    .description('print all secrets of an environment')
    .addOption(envOption())
    .addOption(format('dotenv, or json with --json, by default'))
    .addOption(new Option('--name <name>', 'the name of the Secret, for k8s').argParser(readObjectName))
    .option('--output <file>', 'write a file that only you read')
    .action(async (_options, command: Command) => secrets.exportSecrets(await withEnv(command, terminal), terminal))
  program
    .command('diff')
    .description('show which keys differ between two environments, never values')
    .addOption(new Option('--env <name>', 'an environment; give it twice').argParser(collect).default([]))
    .option('--exit-code', 'exit with 1 when they differ')
    .action(async (_options, command: Command) => exit(await secrets.diff(command.optsWithGlobals(), terminal)))
}

function collect(value: string, previous: readonly string[]): readonly string[] {
  return [...previous, value]
}

function addRun(program: Command, terminal: Terminal, exit: (status: number) => void): void {
  program
    .command('run')
    .description('run a command with the secrets of an environment among its variables, without a shell')
    .usage('[options] -- <command> [arguments...]')
    .addArgument(new Argument('<command...>').default(undefined))
    .addOption(envOption())
    .option('--allow-empty', 'run it also when the environment has no secrets')
    .option('--watch', 'restart the command when secrets change')
    .option('--watch-signal <signal>', 'send it this signal instead, when secrets change', readSignal)
    .addOption(new Option('--interval <time>', 'how often to look').argParser(readDuration).default(30, '30s'))
    .option('--redact', 'replace values in what the command prints')
    .option('--offline-fallback', 'keep an encrypted copy, and use it when the vault cannot be reached')
    .addOption(
      new Option('--max-age <time>', 'how old that copy may be').argParser(readDuration).default(86_400, '24h'),
    )
    .passThroughOptions()
    .action(async (words: string[], _options, command: Command) => {
      exit(await run(words as unknown as ChildCommand, await withEnv<RunOptions>(command, terminal), terminal))
    })
}

function addCompletions(program: Command, terminal: Terminal): void {
  program
    .command('completions')
    .description('print completions for a shell, for example: source <(vault completions bash)')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .action((shell: Shell) => void terminal.stdout.write(completionScript(program, shell)))
}
