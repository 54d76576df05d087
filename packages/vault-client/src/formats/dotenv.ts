import { parse } from 'dotenv'
import { unfit, variable, withoutNull } from './variable.ts'

/**
 * Formats one line so that the dotenv package, Node's `--env-file`, python-dotenv and shells read the same value.
 *
 * Between single quotes, all of them take nearly every character literally, including line breaks. python-dotenv
 * unescapes `\\` and `\'` there, and replaces `${NAME}` everywhere. Double quotes differ more, so they are only used
 * for values with a single quote and without characters to escape.
 *
 * @throws Unfit if no spelling means the same to all of them
 */
export function dotenvLine(key: string, value: string): string {
  const name = variable(key)
  withoutNull(key, value)
  if (value.includes('\r')) throw unfit(key, 'contains a carriage return')
  if (value.includes('${')) throw unfit(key, 'contains ${, which some readers replace')
  if (!value.includes("'") && !/\\(\\|$)/.test(value)) return `${name}='${value}'\n`
  if (!/[\\"$`]/.test(value)) return `${name}="${value}"\n`
  throw unfit(key, 'contains a quote or a backslash that readers of this format unescape differently')
}

/** For each suspicious line the whole file is parsed again. Parsing this many characters takes less than a second. */
const MAX_READ = 20_000_000

/** The numbers of the lines that the parser ignores, from 1: not a variable, part of a value or a comment. */
export function ignoredLines(text: string): readonly number[] {
  const lines = text.split(/\r?\n/)
  const all = JSON.stringify(parse(text))
  return lines
    .flatMap((line, i) => (/^\s*(#|$)/.test(line) || Object.keys(parse(line)).length > 0 ? [] : [i]))
    .slice(0, Math.ceil(MAX_READ / (text.length + 1)))
    .filter((i) => JSON.stringify(parse(lines.toSpliced(i, 1).join('\n'))) === all)
    .map((i) => i + 1)
}

/** Matches a line up to a `#` that ends its unquoted value, without white space before it. */
const CUT =
  /^([^\S\r\n]*(?:export[^\S\r\n]+)?[\w.-]+(?:[^\S\r\n]*=[^\S\r\n]*|:[^\S\r\n]+)(?!['"`\s])[^#\r\n]*)(?<!\s)#/gm
/** Replaces such a `#`, to find out whether the value would continue with it. */
const MARK = '\u0001'

/**
 * The keys whose unquoted values end at a `#` without white space before it. For the dotenv package each `#` outside
 * quotes begins a comment. For a shell, and for the author of `PASSWORD=a#b`, this one is part of the value.
 */
export function keysCutAtHash(text: string): readonly string[] {
  const uncut = parse(text.replace(CUT, `$1${MARK}`))
  return Object.entries(parse(text)).flatMap(([key, value]) =>
    uncut[key]?.startsWith(value + MARK) === true ? [key] : [],
  )
}

/** Matches assignments as the dotenv package does, including quoted values of several lines. */
const ASSIGNMENT =
  /^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\r\n]+)?\s*(?:#.*)?$/gm

function assignmentsIn(text: string): readonly (readonly [key: string, value: string])[] {
  return [...text.replace(/\r\n?/g, '\n').matchAll(ASSIGNMENT)].map(([, key = '', value = '']) => [key, value.trim()])
}

/** The keys that appear more than once. The dotenv package uses the last value. */
export function repeatedKeys(text: string): readonly string[] {
  const [seen, repeated] = [new Set<string>(), new Set<string>()]
  for (const [key] of assignmentsIn(text)) {
    if (seen.has(key)) repeated.add(key)
    seen.add(key)
  }
  return [...repeated]
}

/**
 * The keys whose values shells and python-dotenv would read differently: the dotenv package keeps backslashes between
 * double quotes, except in `\n` and `\r`, and takes a quote that is never closed as part of the value.
 */
export function keysReadDifferently(text: string): readonly string[] {
  const keys = assignmentsIn(text).flatMap(([key, value]) => {
    const [quote = ''] = /^["'`]/.exec(value) ?? []
    const isClosed = value.length > 1 && value.endsWith(quote)
    return quote !== '' && (!isClosed || (quote === '"' && /\\[\\"$`]/.test(value.slice(1, -1)))) ? [key] : []
  })
  return [...new Set(keys)]
}

/** The keys whose values refer to another variable, which Compose and dotenv-expand would replace. */
export function keysWithReferences(secrets: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys(secrets).filter((key) => /\$\{[A-Za-z_]/.test(secrets[key] ?? ''))
}
