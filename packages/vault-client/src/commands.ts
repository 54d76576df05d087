import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { constants } from 'node:os'
import { parseArgs, types } from 'node:util'
import { generateKeyPair } from '@vault-and-tracker/http-signatures'
import { createVaultClient, type VaultClient } from './client.ts'
import { VaultError } from './errors.ts'
import { FORMATS, type Format, formatSecrets } from './format.ts'

/** What a command uses of the process it runs in. Tests inject their own. */
export type Terminal = {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: AsyncIterable<Uint8Array | string>
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

const USAGE = `usage: vault <command>

  vault keygen                            a new key pair: the private JWK on standard output, the public key on standard error
  vault get [KEY] [--env E] [--format F]  all secrets of an environment, or the value of one; F is json, dotenv or shell
  vault put KEY [--env E]                 stores what standard input holds, byte for byte, less one final line break
  vault rm ID                             deletes a secret by its id
  vault run [--env E] -- COMMAND [ARG …]  runs a command with the secrets in its environment

E is production by default. The project comes from the environment:
  VAULT_URL, VAULT_PROJECT, and VAULT_PRIVATE_KEY (a JWK) or VAULT_PRIVATE_KEY_FILE (its path)
`

/** Wrong usage. The message is printed with the usage, and the exit status is 2. */
class UsageError extends Error {
  override readonly name = 'UsageError'
}

/**
 * Runs one command line.
 *
 * @returns the exit status: 0, 1 when the vault refused or cannot be reached, 2 for a wrong call; for `run` the command's own
 */
export async function runVaultCommand(terminal: Terminal): Promise<number> {
  const [command, ...rest] = terminal.args
  try {
    switch (command) {
      case 'keygen':
        return keygen(terminal)
      case 'get':
        return await get(rest, terminal)
      case 'put':
        return await put(rest, terminal)
      case 'rm':
        return await remove(rest, terminal)
      case 'run':
        return await run(rest, terminal)
      case 'help':
      case '--help':
        terminal.stdout.write(USAGE)
        return 0
      case undefined:
        throw new UsageError('a command is missing')
      default:
        throw new UsageError(`there is no command ${command}`)
    }
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.stderr.write(`vault: ${error.message}\n\n${USAGE}`)
      return 2
    }
    const code = error instanceof VaultError ? ` (${error.code})` : ''
    terminal.stderr.write(`vault: ${types.isNativeError(error) ? error.message : 'unknown error'}${code}\n`)
    return 1
  }
}

function keygen({ stdout, stderr }: Terminal): number {
  const { privateJwk, publicKeyHex } = generateKeyPair()
  stdout.write(`${privateJwk}\n`)
  stderr.write(`public key: ${publicKeyHex}\n`)
  return 0
}

async function get(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parse(args, { env: { type: 'string' }, format: { type: 'string' } })
  const [key, ...more] = positionals
  if (more.length > 0) throw new UsageError('get takes one key at most')
  const format = FORMATS.find((known) => known === (values['format'] ?? 'json'))
  if (format === undefined) throw new UsageError(`--format is one of ${FORMATS.join(', ')}`)
  const secrets = await (await client(terminal)).getAll(text(values['env']))
  return printSecrets(terminal, secrets, key, format)
}

function printSecrets(
  terminal: Terminal,
  secrets: Record<string, string>,
  key: string | undefined,
  format: Format,
): number {
  if (key === undefined) {
    terminal.stdout.write(formatSecrets(secrets, format))
    return 0
  }
  const value = secrets[key]
  if (value === undefined) {
    terminal.stderr.write(`vault: there is no secret ${key} in this environment\n`)
    return 1
  }
  terminal.stdout.write(`${value}\n`)
  return 0
}

async function put(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parse(args, { env: { type: 'string' } })
  const [key, ...more] = positionals
  if (key === undefined || more.length > 0)
    throw new UsageError('put takes one key; the value is read from standard input')
  const chunks: Buffer[] = []
  for await (const chunk of terminal.stdin) chunks.push(Buffer.from(chunk))
  // `fatal` refuses bytes that are not UTF-8 instead of storing something else in their place.
  const value = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    .decode(Buffer.concat(chunks))
    .replace(/\r?\n$/, '')
  await (await client(terminal)).put(key, value, text(values['env']) ?? 'production')
  return 0
}

async function remove(args: readonly string[], terminal: Terminal): Promise<number> {
  const { positionals } = parse(args, {})
  const [id, ...more] = positionals
  if (id === undefined || more.length > 0) throw new UsageError('rm takes one id')
  await (await client(terminal)).remove(id)
  return 0
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const end = args.indexOf('--')
  if (end === -1) throw new UsageError('run needs -- before the command')
  const { values, positionals } = parse(args.slice(0, end), { env: { type: 'string' } })
  const [command, ...commandArgs] = args.slice(end + 1)
  if (command === undefined || positionals.length > 0) throw new UsageError('run needs a command after --')
  const secrets = await (await client(terminal)).getAll(text(values['env']))
  refuseOtherThanVariables(secrets)
  // The command gets its secrets, not the key that fetches them.
  return await spawnCommand(command, commandArgs, { ...terminal.env, VAULT_PRIVATE_KEY: undefined, ...secrets })
}

/** Node's own refusal of a null byte repeats the value, and `A=B` as a name would set another variable. */
function refuseOtherThanVariables(secrets: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(secrets))
    if (name.includes('=') || value.includes('\0'))
      throw new Error(`${JSON.stringify(name)} cannot be a variable of an environment; use vault get`)
}

function spawnCommand(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, stdio: 'inherit' })
    const forward = (signal: NodeJS.Signals): void => void child.kill(signal)
    const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
    for (const signal of signals) process.on(signal, forward)
    const done = (): void => {
      for (const signal of signals) process.off(signal, forward)
    }
    child.once('error', (error) => {
      done()
      reject(new Error(`cannot run ${command}: ${error.message}`, { cause: error }))
    })
    child.once('exit', (status, signal) => {
      done()
      resolve(signal === null ? (status ?? 1) : 128 + constants.signals[signal])
    })
  })
}

type Options = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>

function parse(args: readonly string[], options: Options): { values: Record<string, unknown>; positionals: string[] } {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(types.isNativeError(error) ? error.message : 'wrong arguments')
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

async function client({ env }: Terminal): Promise<VaultClient> {
  const { VAULT_URL: url, VAULT_PROJECT: project, VAULT_PRIVATE_KEY: key, VAULT_PRIVATE_KEY_FILE: file } = env
  const missing = [
    !url && 'VAULT_URL',
    !project && 'VAULT_PROJECT',
    !key && !file && 'VAULT_PRIVATE_KEY or VAULT_PRIVATE_KEY_FILE',
  ]
  const names = missing.filter((name) => typeof name === 'string')
  if (!url || !project || names.length > 0) throw new UsageError(`not set: ${names.join(', ')}`)
  return createVaultClient({ url, project, privateKey: key ?? (await readFile(file ?? '', 'utf8')).trim() })
}
