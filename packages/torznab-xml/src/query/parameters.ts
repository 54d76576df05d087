import { cleanText } from '../xml/escape-xml.ts'

/** These are lists, so several of one name are one longer list: `cat=1&cat=2` is `cat=1,2`. */
const LISTS: ReadonlySet<string> = new Set(['cat', 'attrs', 'tag'])

/** Reads parameters by name and remembers the first that cannot be read. */
export type ParameterReader = {
  /** The value of a parameter; undefined when it is absent or blank. */
  text(name: string): string | undefined
  /** What `parse` makes of a value. When it makes undefined of one, the parameter is incorrect. */
  read<T>(name: string, parse: (text: string) => T | undefined): T | undefined
  /** Notes a parameter as incorrect. */
  refuse(name: string): void
  /** The first parameter that was incorrect. */
  incorrect(): string | undefined
}

/**
 * The parameters of a query string. Names count whatever their case (Torznab 1.3, "Parameters"), a blank value counts
 * as none, of several values of one name the first counts. Escapes that are not UTF-8 become U+FFFD, as browsers read
 * them; control characters are removed, since Postgres refuses NUL.
 */
export function readParameters(rawQuery: string): ParameterReader {
  const values = new Map<string, string>()
  for (const [rawName, rawValue] of new URLSearchParams(rawQuery)) {
    const name = rawName.toLowerCase()
    const value = cleanText(rawValue).trim()
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
