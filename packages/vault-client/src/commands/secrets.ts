import { createReadStream } from 'node:fs'
import { parse } from 'dotenv'
import { type Changes, changesBetween, isUnchanged, type Secrets } from '../client/secrets.ts'
import { ignoredLines, keysCutAtHash } from '../formats/dotenv.ts'
import { type Format, formatSecrets } from '../formats/formats.ts'
import { createVaultClient, type VaultClient } from '../index.ts'
import { type AdminClient, adminClient } from './admin-client.ts'
import { codeOf, writePrivately } from './files.ts'
import { clientSettings, type GlobalOptions, noSecretsText } from './settings.ts'
import {
  CommandError,
  confirm,
  painter,
  printable,
  readStdin,
  readText,
  type Terminal,
  tell,
  UsageError,
} from './terminal.ts'

export type EnvOptions = GlobalOptions & { env: string }

async function client(options: GlobalOptions, terminal: Terminal): Promise<VaultClient> {
  return createVaultClient(await clientSettings(options, terminal))
}

/** All secrets of the environment; that it has none may be a slip in its name. */
async function readAll(options: EnvOptions, terminal: Terminal): Promise<Secrets> {
  const secrets = await (await client(options, terminal)).getAll(options.env)
  if (Object.keys(secrets).length === 0) tell(terminal, noSecretsText(options.env))
  return secrets
}

/** `vault get [KEY]`: all secrets of an environment, or the value of one with a line break behind it. */
export async function get(
  key: string | undefined,
  options: EnvOptions & { format?: Format; name?: string },
  terminal: Terminal,
): Promise<void> {
  if (key === undefined) {
    const secrets = await readAll(options, terminal)
    terminal.stdout.write(formatSecrets(secrets, options.format ?? 'json', options.name))
    return
  }
  const value = await (await client(options, terminal)).get(key, options.env)
  if (value === undefined)
    throw new CommandError(`there is no secret ${printable(key)} in the environment ${printable(options.env)}`)
  terminal.stdout.write(options.json === true ? `${JSON.stringify({ [key]: value })}\n` : `${value}\n`)
}

/** `vault list`: the keys of an environment, one a line. */
export async function list(options: EnvOptions, terminal: Terminal): Promise<void> {
  const keys = Object.keys(await readAll(options, terminal)).toSorted()
  terminal.stdout.write(
    options.json === true ? `${JSON.stringify(keys)}\n` : keys.map((key) => `${printable(key)}\n`).join(''),
  )
}

/** `vault set KEY`: from a file, standard input or a prompt; from the command line only when asked to, since others see it there. */
export async function set(
  key: string,
  options: EnvOptions & { fromFile?: string; value?: string },
  terminal: Terminal,
): Promise<void> {
  if (key.includes('=')) throw new UsageError(assignmentHint(key))
  const settings = await clientSettings(options, terminal)
  await createVaultClient(settings).put(key, await readValue(key, options, terminal), options.env)
  if (options.json === true) terminal.stdout.write(`${JSON.stringify({ ok: true, key, env: options.env })}\n`)
}

/** What follows the `=` is a value, which is not shown. */
function assignmentHint(word: string): string {
  const name = printable(word.slice(0, word.indexOf('='))) || 'KEY'
  const call = `vault set ${name}`
  return `a key has no =; ${call} stores what standard input holds or is typed, and ${call} --value VALUE what others may see`
}

async function readValue(
  key: string,
  { fromFile, value }: { fromFile?: string; value?: string },
  terminal: Terminal,
): Promise<string> {
  if (value !== undefined && fromFile !== undefined) throw new UsageError('--value and --from-file exclude each other')
  if (value !== undefined) return value
  if (fromFile !== undefined) return await readFileOf(fromFile)
  if (terminal.stdin.isTTY === true) {
    const typed = await terminal.ask(`value of ${printable(key)}: `, { hidden: true })
    if (typed === '') throw new CommandError("nothing was entered; --value '' stores an empty value")
    return typed
  }
  const piped = (await readStdin(terminal)).replace(/\r?\n$/, '')
  if (piped === '') throw new CommandError("standard input holds no value; --value '' stores an empty one")
  return piped
}

async function readFileOf(file: string): Promise<string> {
  try {
    return await readText(createReadStream(file), file)
  } catch (error) {
    throw error instanceof CommandError ? error : new CommandError(`cannot read ${file}: ${codeOf(error)}`)
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** `vault rm ID`, or `vault rm KEY` with the admin token, since only administrators see ids. */
export async function remove(which: string, options: EnvOptions, terminal: Terminal): Promise<void> {
  const isId = UUID.test(which)
  if (!isId && !terminal.env['VAULT_ADMIN_TOKEN'])
    throw new UsageError(
      `${printable(which)} is not an id; vault admin secrets shows ids, and with VAULT_ADMIN_TOKEN set rm takes a key`,
    )
  const settings = await clientSettings(options, terminal)
  if (isId) await createVaultClient(settings).remove(which)
  else await removeKey(which, settings.project, options.env, await adminClient(options, terminal))
  report(options, terminal, { ok: true }, '')
}

async function removeKey(key: string, project: string, env: string, admin: AdminClient): Promise<void> {
  const found = (await admin.secrets(project, env)).find((secret) => secret.key === key)
  if (found === undefined)
    throw new CommandError(`there is no secret ${printable(key)} in the environment ${printable(env)}`)
  await admin.removeSecret(found.id)
}

/** `vault import FILE`: shows what would change, asks, and puts what differs. Nothing is deleted. */
export async function importFile(
  file: string,
  options: EnvOptions & { yes?: boolean },
  terminal: Terminal,
): Promise<void> {
  const text = file === '-' ? await readStdin(terminal) : await readFileOf(file)
  const wanted = /^\s*\{/.test(text) ? readJson(text, file) : readDotenv(text, file, terminal)
  const vault = await client(options, terminal)
  const present = await vault.getAll(options.env)
  const changes = changesBetween(present, { ...present, ...wanted })
  const keys = [...changes.added, ...changes.changed]
  if (options.json !== true) terminal.stdout.write(changesText(changes, terminal))
  if (isUnchanged(changes)) {
    report(options, terminal, { ok: true, put: [] }, `nothing to do: ${printable(options.env)} has all of it\n`)
    return
  }
  const question = `put ${String(keys.length)} of ${String(Object.keys(wanted).length)} secrets into ${printable(options.env)}?`
  if (options.yes !== true && !(await confirm(terminal, question, 'use --yes')))
    throw new CommandError('nothing was put')
  for (const [i, key] of keys.entries()) {
    try {
      await vault.put(key, wanted[key] ?? '', options.env)
    } catch (error) {
      const done = `${String(i)} of ${String(keys.length)} secrets were put; run the command again to go on`
      throw new CommandError(`${printable(key)}: ${error instanceof Error ? error.message : 'failed'}; ${done}`)
    }
  }
  report(
    options,
    terminal,
    { ok: true, put: keys },
    keys.length === 1 ? '1 secret was put\n' : `${String(keys.length)} secrets were put\n`,
  )
}

function report(options: GlobalOptions, terminal: Terminal, json: object, text: string): void {
  terminal.stdout.write(options.json === true ? `${JSON.stringify(json)}\n` : text)
}

/** Tells, before anything is asked, which parts of the file are not stored. */
function readDotenv(text: string, file: string, terminal: Terminal): Secrets {
  const ignored = ignoredLines(text)
  const which =
    ignored.length === 1
      ? `line ${ignored.join()} of ${file} is no variable`
      : `lines ${ignored.join(', ')} of ${file} are no variables`
  if (ignored.length > 0) tell(terminal, `${which}, and left out`)
  const cut = keysCutAtHash(text)
  if (cut.length > 0)
    tell(
      terminal,
      `the values of these keys in ${file} end before a #; quote them where it is no comment: ${cut.join(', ')}`,
    )
  return parse(text)
}

function readJson(text: string, file: string): Secrets {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new CommandError(`${file} is not JSON`)
  }
  const entries = Object.entries(value as object)
  const wrong = entries.find(([, each]) => typeof each !== 'string')
  if (wrong !== undefined) throw new CommandError(`${printable(wrong[0])} in ${file} is not a text`)
  return Object.fromEntries<string>(entries)
}

/** Keys, never values. */
function changesText({ added, changed, removed }: Changes, terminal: Terminal): string {
  const paint = painter(terminal.stdout, terminal.env)
  return [
    ...added.map((key) => paint('green', `+ ${printable(key)}`)),
    ...changed.map((key) => paint('yellow', `~ ${printable(key)}`)),
    ...removed.map((key) => paint('red', `- ${printable(key)}`)),
  ]
    .map((line) => `${line}\n`)
    .join('')
}

/** `vault export`: to standard output, or to a file that only its owner reads. */
export async function exportSecrets(
  options: EnvOptions & { format?: Format; name?: string; output?: string },
  terminal: Terminal,
): Promise<void> {
  const { format = options.json === true ? 'json' : 'dotenv', name, output } = options
  const secrets = await readAll(options, terminal)
  const text = formatSecrets(secrets, format, name)
  if (format === 'github-actions') terminal.stderr.write(masks(secrets))
  if (output === undefined) terminal.stdout.write(text)
  else {
    await writePrivately(output, text)
    report(options, terminal, { ok: true, file: output }, '')
  }
}

/** Workflow commands by which the runner hides values in logs (GitHub: "Masking a value in a log"), one a line of a value. */
function masks(secrets: Readonly<Secrets>): string {
  const lines = new Set(Object.values(secrets).flatMap((value) => value.split('\n')))
  return [...lines]
    .filter((line) => line.trim() !== '')
    .map((line) => `::add-mask::${line.replaceAll('%', '%25').replaceAll('\r', '%0D')}\n`)
    .join('')
}

/** `vault diff`: what environment `b` has differently than `a`. */
export async function diff(
  options: GlobalOptions & { env: readonly string[]; exitCode?: boolean },
  terminal: Terminal,
): Promise<number> {
  const [a, b, ...more] = options.env
  if (a === undefined || b === undefined || more.length > 0)
    throw new UsageError('diff needs two environments: --env A --env B')
  const vault = await client(options, terminal)
  const changes = changesBetween(await vault.getAll(a), await vault.getAll(b))
  const text = isUnchanged(changes)
    ? `${printable(a)} and ${printable(b)} are the same\n`
    : changesText(changes, terminal)
  report(options, terminal, changes, text)
  return options.exitCode === true && !isUnchanged(changes) ? 1 : 0
}
