import { cleanText } from '../xml/escape-xml.ts'

/** Parameters that are lists, and can be repeated: `cat=1&cat=2` means `cat=1,2`. */
const LISTS: ReadonlySet<string> = new Set(['cat', 'attrs', 'tag'])

/** Reads parameters by name, and records the first invalid one. */
export type ParameterReader = {
  /** The value of a parameter; undefined if it is missing or blank. */
  text(name: string): string | undefined
  /** Whether a parameter has a value that is not blank, even if no character of it is allowed. */
  isSent(name: string): boolean
  /** Parses a value. If `parse` returns undefined, the parameter is incorrect. */
  read<T>(name: string, parse: (text: string) => T | undefined): T | undefined
  /** Records a parameter as incorrect. */
  refuse(name: string): void
  /** The first incorrect parameter. */
  incorrect(): string | undefined
}

/**
 * Parses a query string. Names are case-insensitive (Torznab 1.3, "Parameters"), blank values are ignored, and the
 * first of several values counts. Escapes that are not UTF-8 become U+FFFD, as in browsers. Control characters are
 * removed, because Postgres refuses NUL.
 */
export function readParameters(rawQuery: string): ParameterReader {
  const values = new Map<string, string>()
  const sent = new Set<string>()
  for (const [rawName, rawValue] of new URLSearchParams(rawQuery)) {
    const name = rawName.toLowerCase()
    const value = cleanText(rawValue).trim()
    if (rawValue.trim() !== '') sent.add(name)
    if (value === '') continue
    const before = values.get(name)
    if (before === undefined) values.set(name, value)
    else if (LISTS.has(name)) values.set(name, `${before},${value}`)
  }

  let incorrect: string | undefined
  const refuse = (name: string): void => {
    incorrect ??= name
  }
  return {
    text: (name) => values.get(name),
    isSent: (name) => sent.has(name),
    read(name, parse) {
      const text = values.get(name)
      if (text === undefined) return undefined
      const value = parse(text)
      if (value === undefined) refuse(name)
      return value
    },
    refuse,
    incorrect: () => incorrect,
  }
}
