import { parse } from 'dotenv'
import { unfit, variable, withoutNull } from './variable.ts'

/**
 * One line of a file as the dotenv package, Node's `--env-file`, python-dotenv and shells read it.
 *
 * Between single quotes all take nearly every character literally, line breaks too. python-dotenv undoes `\\` and `\'` there, and
 * replaces `${NAME}` everywhere. Between double quotes they differ more, so a value with a single quote is written there only
 * where nothing is to be undone.
 *
 * @throws Unfit where no spelling means the same to all of them
 */
export function dotenvLine(key: string, value: string): string {
  const name = variable(key)
  withoutNull(key, value)
  if (value.includes('\r')) throw unfit(key, 'has a carriage return')
  if (value.includes('${')) throw unfit(key, 'has ${, which some readers replace')
  if (!value.includes("'") && !/\\(\\|$)/.test(value)) return `${name}='${value}'\n`
  if (!/[\\"$`]/.test(value)) return `${name}="${value}"\n`
  throw unfit(key, 'has a quote or a backslash that readers of this format undo differently')
}

/** Each line in question is held against the whole file; so many characters are read for that, within a second. */
const MAX_READ = 20_000_000

/** The lines of a .env file, from 1, that the reader takes for nothing: no variable, no part of a value and no comment. */
export function ignoredLines(text: string): readonly number[] {
  const lines = text.split(/\r?\n/)
  const all = JSON.stringify(parse(text))
  return lines
    .flatMap((line, i) => (/^\s*(#|$)/.test(line) || Object.keys(parse(line)).length > 0 ? [] : [i]))
    .slice(0, Math.ceil(MAX_READ / (text.length + 1)))
    .filter((i) => JSON.stringify(parse(lines.toSpliced(i, 1).join('\n'))) === all)
    .map((i) => i + 1)
}

/** The beginning of a line whose unquoted value ends at a `#`, up to this; no white space is before it. */
const CUT =
  /^([^\S\r\n]*(?:export[^\S\r\n]+)?[\w.-]+(?:[^\S\r\n]*=[^\S\r\n]*|:[^\S\r\n]+)(?!['"`\s])[^#\r\n]*)(?<!\s)#/gm
/** What stands for such a `#` to see whether the value goes on with it. */
const MARK = '\u0001'

/**
 * The keys whose unquoted values end at a `#` without white space before it. For the dotenv package each `#` outside of quotes begins a
 * comment; a shell, and whoever wrote `PASSWORD=a#b`, takes this one for a part of the value.
 */
export function keysCutAtHash(text: string): readonly string[] {
  const uncut = parse(text.replace(CUT, `$1${MARK}`))
  return Object.entries(parse(text)).flatMap(([key, value]) =>
    uncut[key]?.startsWith(value + MARK) === true ? [key] : [],
  )
}

/** One assignment as the dotenv package finds it, with the lines of a quoted value. */
const ASSIGNMENT =
  /^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\r\n]+)?\s*(?:#.*)?$/gm

/** The keys that come more than once; the dotenv package takes the last. */
export function repeatedKeys(text: string): readonly string[] {
  const [seen, repeated] = [new Set<string>(), new Set<string>()]
  for (const [, key = ''] of text.replace(/\r\n?/g, '\n').matchAll(ASSIGNMENT)) {
    if (seen.has(key)) repeated.add(key)
    seen.add(key)
  }
  return [...repeated]
}

/** The keys whose values refer to another variable, which Compose and dotenv-expand would replace. */
export function keysWithReferences(secrets: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys(secrets).filter((key) => /\$\{[A-Za-z_]/.test(secrets[key] ?? ''))
}
