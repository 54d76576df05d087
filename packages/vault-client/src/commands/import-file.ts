import { parse } from 'dotenv'
import type { Secrets } from '../client/secrets.ts'
import {
  ignoredLines,
  keysCutAtHash,
  keysReadDifferently,
  keysWithReferences,
  repeatedKeys,
} from '../formats/dotenv.ts'
import { CommandError, printable, type Terminal, tell } from './terminal.ts'

/** Parses a .env or JSON file, and warns about parts that are ambiguous. */
export function readImport(text: string, source: string, terminal: Terminal): Secrets {
  const isJson = /^\s*\{/.test(text)
  const secrets = isJson ? readJson(text, source) : readDotenv(text, source, terminal)
  const warn = (keys: readonly string[], what: string): void => {
    if (keys.length > 0) tell(terminal, `warning: ${source}: ${what}: ${keys.map(printable).join(', ')}`)
  }
  warn(
    isJson ? [] : keysReadDifferently(text),
    'backslashes and unclosed quotes are stored as they are, not interpreted, in the values of',
  )
  const repeated = isJson ? repeatedMembers(text) : repeatedKeys(text)
  warn(repeated, 'these keys appear more than once, and the last value is used')
  warn(keysWithReferences(secrets), 'references such as ${NAME} are stored as they are, not replaced, in the values of')
  const withNull = Object.keys(secrets).find((key) => secrets[key]?.includes('\0'))
  if (withNull !== undefined)
    throw new CommandError(
      `${source}: the value of ${printable(withNull)} contains a null byte; encode it, for example with base64`,
    )
  return secrets
}

function readDotenv(text: string, source: string, terminal: Terminal): Secrets {
  const secrets = parse(text)
  const ignored = ignoredLines(text)
  if (ignored.length > 0 && Object.keys(secrets).length === 0)
    throw new CommandError(`${source} contains no line of the form KEY=VALUE; import a .env file or a JSON object`)
  const lines = ignored.length === 1 ? `line ${ignored.join()} is` : `lines ${ignored.join(', ')} are`
  if (ignored.length > 0) tell(terminal, `warning: ${source}: ${lines} not KEY=VALUE and will be skipped`)
  const cut = keysCutAtHash(text)
  if (cut.length > 0)
    tell(
      terminal,
      `warning: ${source}: these values end before a #; quote them if it is part of the value: ${cut.join(', ')}`,
    )
  return secrets
}

function readJson(text: string, source: string): Secrets {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new CommandError(`${source} is not valid JSON`)
  }
  const entries = Object.entries(value as object)
  const wrong = entries.find(([, each]) => typeof each !== 'string')
  if (wrong !== undefined) throw new CommandError(`${source}: the value of ${printable(wrong[0])} is not a string`)
  return Object.fromEntries<string>(entries)
}

/** The members that appear more than once in an object of strings, in which names and values alternate. */
function repeatedMembers(text: string): readonly string[] {
  const strings = text.match(/"(?:[^"\\]|\\.)*"/g) ?? []
  const names = strings.filter((_, i) => i % 2 === 0).map((string) => JSON.parse(string) as string)
  return [...new Set(names.filter((name, i) => names.indexOf(name) !== i))]
}
