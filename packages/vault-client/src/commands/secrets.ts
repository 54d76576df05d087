import { createReadStream } from 'node:fs'
import { VaultError } from '../client/errors.ts'
import { type Changes, changesBetween, isUnchanged, type Secrets } from '../client/secrets.ts'
import { sleep } from '../client/transport.ts'
import { type Format, formatSecrets } from '../formats/formats.ts'
import { createVaultClient, type VaultClient } from '../index.ts'
import { reasonOf, writePrivately } from './files.ts'
import { readImport } from './import-file.ts'
import { codeProblem, type SelectionOptions, selectSecrets } from './selection.ts'
import { clientSettings, type GlobalOptions, noSecretsText, noSecretText } from './settings.ts'
import {
  CommandError,
  confirm,
  jsonLine,
  NotFoundError,
  painter,
  printable,
  readStdin,
  readText,
  type Terminal,
  tell,
  UsageError,
  writeResult,
} from './terminal.ts'
import { durationText } from './values.ts'

export type EnvOptions = GlobalOptions & { env: string }

async function client(options: GlobalOptions, terminal: Terminal): Promise<VaultClient> {
  return createVaultClient(await clientSettings(options, terminal))
}

/** Reads the selected secrets. Warns about an empty environment, or refuses it, because its name may be misspelt. */
async function readChosen(
  options: EnvOptions & SelectionOptions & { allowEmpty?: boolean },
  terminal: Terminal,
): Promise<Secrets> {
  const secrets = await (await client(options, terminal)).getAll(options.env)
  if (Object.keys(secrets).length === 0) {
    if (options.allowEmpty === false) throw new CommandError(`${noSecretsText(options.env)}, or use --allow-empty`)
    tell(terminal, noSecretsText(options.env))
  }
  return selectSecrets(secrets, options, options.env)
}

type PrintOptions = EnvOptions & SelectionOptions & { format?: Format; name?: string; output?: string }

/** `vault get [KEY]`: prints the value of a secret, or all secrets of an environment. */
export async function get(
  key: string | undefined,
  options: PrintOptions & { newline: boolean },
  terminal: Terminal,
): Promise<void> {
  if (key === undefined) {
    await print({ ...options, format: options.format ?? 'json' }, terminal)
    return
  }
  const value = await (await client(options, terminal)).get(key, options.env)
  if (value === undefined) throw new NotFoundError(noSecretText(key, options.env))
  if (options.output !== undefined) await writeTo(options.output, value, options, terminal)
  else if (options.json === true) terminal.stdout.write(jsonLine({ [key]: value }))
  else writeResult(terminal, options.newline ? `${value}\n` : value)
}

/** `vault list`: prints the keys of an environment, one per line. */
export async function list(options: EnvOptions, terminal: Terminal): Promise<void> {
  const keys = Object.keys(await readChosen(options, terminal)).toSorted()
  report(options, terminal, keys, keys.map((key) => `${printable(key)}\n`).join(''))
}

/**
 * `vault set KEY`: stores a value from standard input, a prompt or a file. Other users can see values on command lines.
 */
export async function set(
  key: string,
  options: EnvOptions & { fromFile?: string; value?: string; references?: boolean },
  terminal: Terminal,
): Promise<void> {
  if (key.includes('=')) throw new UsageError(assignmentHint(key, 'vault set'))
  const settings = await clientSettings(options, terminal)
  const value = await readValue(key, options, terminal, "--value ''")
  const { project } = settings
  await createVaultClient(settings).put(key, value, options.env, { references: options.references === true })
  const text = `Set ${placeText(key, project, options.env)}.\n`
  report(options, terminal, { ok: true, key, project, env: options.env }, text)
}

/** Returns the place of a secret for a message. */
export function placeText(key: string, project: string, env: string): string {
  return `${printable(key)} in ${printable(project)}/${printable(env)}`
}

/** The text after `=` is probably a value, so it is not shown. */
export function assignmentHint(word: string, command: string): string {
  const name = printable(word.slice(0, word.indexOf('='))) || 'KEY'
  return `a key cannot contain =; pipe the value into ${command} ${name}, or type it at the prompt`
}

/**
 * Reads a value to store from an option, a file, a prompt or standard input.
 *
 * @param emptyOption the option that stores an empty value
 */
export async function readValue(
  key: string,
  source: { fromFile?: string; value?: string },
  terminal: Terminal,
  emptyOption: string,
): Promise<string> {
  const value = await readAnyValue(key, source, terminal, emptyOption)
  if (value.includes('\0'))
    throw new CommandError(
      `the value of ${printable(key)} contains a null byte, which environment variables cannot contain; encode it, for example with base64`,
    )
  return value
}

async function readAnyValue(
  key: string,
  { fromFile, value }: { fromFile?: string; value?: string },
  terminal: Terminal,
  emptyOption: string,
): Promise<string> {
  if (value !== undefined && fromFile !== undefined) throw new UsageError('use either --value or --from-file')
  if (value !== undefined) return value
  if (fromFile !== undefined) return await readFileOf(fromFile)
  if (terminal.stdin.isTTY === true) {
    const typed = await terminal.ask(`Value of ${printable(key)}: `, { hidden: true })
    if (typed === '') throw new CommandError(`the value is empty; use ${emptyOption} to store an empty value`)
    return typed
  }
  const piped = (await readStdin(terminal)).replace(/\r?\n$/, '')
  if (piped === '') throw new CommandError(`standard input is empty; use ${emptyOption} to store an empty value`)
  return piped
}

async function readFileOf(file: string): Promise<string> {
  try {
    return await readText(createReadStream(file), file)
  } catch (error) {
    throw error instanceof CommandError ? error : new CommandError(`cannot read ${file}: ${reasonOf(error)}`)
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** `vault rm KEY`: deletes a secret by its key or id. */
export async function remove(
  which: string,
  options: EnvOptions & { yes?: boolean },
  terminal: Terminal,
): Promise<void> {
  const settings = await clientSettings(options, terminal)
  const isId = UUID.test(which)
  const place = isId
    ? `secret ${which} of ${printable(settings.project)}`
    : placeText(which, settings.project, options.env)
  await confirm(terminal, `Delete ${place}? This permanently deletes all its versions.`, options)
  const vault = createVaultClient(settings)
  try {
    await (isId ? vault.remove(which) : vault.removeByKey(which, options.env))
  } catch (error) {
    if (isId || !(error instanceof VaultError) || error.code !== 'not_found') throw error
    throw new NotFoundError(
      `${noSecretText(which, options.env)}; delete an inherited secret in the environment that stores it`,
    )
  }
  report(options, terminal, { ok: true }, `Deleted ${place}.\n`)
}

/** `vault import FILE`: shows the changes, asks, and stores new and changed secrets. It deletes none. */
export async function importFile(
  file: string,
  options: EnvOptions & { yes?: boolean },
  terminal: Terminal,
): Promise<void> {
  const source = file === '-' ? 'standard input' : file
  const text = file === '-' ? await readStdin(terminal) : await readFileOf(file)
  const wanted = readImport(text, source, terminal)
  const settings = await clientSettings(options, terminal)
  const vault = createVaultClient({ ...settings, maxWaitMs: MAX_SILENT_WAIT_MS })
  const present = await vault.getAll(options.env)
  const changes = changesBetween(present, { ...present, ...wanted })
  const keys = [...changes.added, ...changes.changed]
  if (options.json !== true) terminal.stdout.write(changesText(changes, terminal))
  const target = `${printable(settings.project)}/${printable(options.env)}`
  if (isUnchanged(changes)) {
    report(options, terminal, { ok: true, put: [] }, `Nothing to do: ${target} is up to date.\n`)
    return
  }
  await confirm(
    terminal,
    `Import ${String(keys.length)} of ${countText(Object.keys(wanted).length)} into ${target}?`,
    options,
  )
  for (const [i, key] of keys.entries()) {
    const done = `${String(i)} of ${countText(keys.length)} imported`
    try {
      await putPatiently(vault, { key, value: wanted[key] ?? '', env: options.env }, done, terminal)
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'failed'
      throw new CommandError(`${printable(key)}: ${reason}; ${done}; run the command again to continue`)
    }
  }
  report(options, terminal, { ok: true, put: keys }, `Imported ${countText(keys.length)} into ${target}.\n`)
}

const countText = (count: number): string => `${String(count)} ${count === 1 ? 'secret' : 'secrets'}`

/** After this many waits in a row, other clients are using up the limit on writes. */
const MAX_WAITS = 10

/** The client waits up to this long without a message. Longer waits are reported. */
const MAX_SILENT_WAIT_MS = 1_000

/** Waits as long as the vault asks, because a large file can exceed the limit on writes per minute. */
async function putPatiently(
  vault: VaultClient,
  { key, value, env }: { key: string; value: string; env: string },
  done: string,
  terminal: Terminal,
): Promise<void> {
  for (let waits = 0; ; waits++) {
    try {
      await vault.put(key, value, env)
      return
    } catch (error) {
      const waitMs = error instanceof VaultError && error.status === 429 ? error.retryAfterMs : undefined
      if (waitMs === undefined || waits === MAX_WAITS) throw error
      tell(terminal, `too many writes; ${done}, continuing in ${durationText(waitMs / 1000)}`)
      await sleep(waitMs)
    }
  }
}

function report(options: GlobalOptions, terminal: Terminal, json: object, text: string): void {
  terminal.stdout.write(options.json === true ? jsonLine(json) : text)
}

/** Lists keys that were added, changed and removed, one per line. */
export function changesText({ added, changed, removed }: Changes, terminal: Terminal): string {
  const paint = painter(terminal.stdout, terminal.env)
  return [
    ...added.map((key) => paint('green', `+ ${printable(key)}`)),
    ...changed.map((key) => paint('yellow', `~ ${printable(key)}`)),
    ...removed.map((key) => paint('red', `- ${printable(key)}`)),
  ]
    .map((line) => `${line}\n`)
    .join('')
}

/**
 * `vault export`: prints all secrets, or writes them to a file that only its owner can read.
 *
 * @throws CommandError if there are none, because the result may replace a file or a Kubernetes Secret
 */
export async function exportSecrets(
  options: PrintOptions & { allowEmpty?: boolean },
  terminal: Terminal,
): Promise<void> {
  await print(
    { allowEmpty: false, ...options, format: options.format ?? (options.json === true ? 'json' : 'dotenv') },
    terminal,
  )
}

/** Formats for data. The other formats set environment variables, which can make programs run other code. */
const DATA: ReadonlySet<Format> = new Set(['json', 'yaml'])

async function print(
  options: PrintOptions & { format: Format; allowEmpty?: boolean },
  terminal: Terminal,
): Promise<void> {
  const { format, name, output } = options
  const secrets = await readChosen(options, terminal)
  const problem = DATA.has(format) ? undefined : codeProblem(secrets, options)
  if (problem !== undefined) throw new CommandError(problem)
  const text = formatSecrets(secrets, format, name)
  if (format === 'github-actions') terminal.stderr.write(masks(secrets))
  if (output !== undefined) await writeTo(output, text, options, terminal)
  else writeResult(terminal, text)
}

async function writeTo(file: string, text: string, options: GlobalOptions, terminal: Terminal): Promise<void> {
  await writePrivately(file, text)
  report(options, terminal, { ok: true, file }, '')
}

/** Workflow commands that mask values in logs (GitHub: "Masking a value in a log"), one per line of a value. */
function masks(secrets: Readonly<Secrets>): string {
  const lines = new Set(Object.values(secrets).flatMap((value) => value.split('\n')))
  return [...lines]
    .filter((line) => line.trim() !== '')
    .map((line) => `::add-mask::${line.replaceAll('%', '%25').replaceAll('\r', '%0D')}\n`)
    .join('')
}

/** `vault diff`: shows the changes from environment `a` to `b`. */
export async function diff(
  options: GlobalOptions & { env?: readonly string[]; exitCode?: boolean },
  terminal: Terminal,
): Promise<number> {
  const [a, b, ...more] = options.env ?? []
  if (a === undefined || b === undefined || more.length > 0)
    throw new UsageError('name two environments: --env A --env B')
  const vault = await client(options, terminal)
  const [before, after] = [await vault.getAll(a), await vault.getAll(b)]
  if (Object.keys(before).length === 0) tell(terminal, noSecretsText(a))
  if (Object.keys(after).length === 0) tell(terminal, noSecretsText(b))
  const changes = changesBetween(before, after)
  const text = isUnchanged(changes)
    ? `${printable(a)} and ${printable(b)} have the same secrets.\n`
    : changesText(changes, terminal)
  report(options, terminal, changes, text)
  return options.exitCode === true && !isUnchanged(changes) ? 1 : 0
}
