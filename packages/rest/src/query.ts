import type { InputProblem } from './input.ts'

/** The name of the query as a whole, where no parameter can be named. */
const QUERY = 'query'

/**
 * Reads the query of a request target: every parameter is one well-formed string.
 *
 * `a=1&a=2`, `a[x]=1`, a broken percent-escape and an escape that is not UTF-8 are refused instead of guessed at.
 * Unknown parameters are ignored.
 *
 * @param target the request target as received, for example `/v1/secrets?env=staging`
 * @param names the parameters the endpoint knows
 * @param createError makes the service's error of the first problem; no value is ever in it
 * @returns the value of each one that is there
 * @throws what `createError` returns
 */
export function readQuery<Name extends string>(
  target: string,
  names: readonly Name[],
  createError: (problem: InputProblem) => Error,
): Partial<Record<Name, string>> {
  const start = target.indexOf('?')
  if (start === -1) return {}
  const found = new Map<string, string>()
  for (const pair of target.slice(start + 1).split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals === -1 ? pair : pair.slice(0, equals), createError)
    const value = decode(equals === -1 ? '' : pair.slice(equals + 1), createError)
    const bracketed = names.find((known) => name.startsWith(`${known}[`))
    if (bracketed !== undefined) throw createError({ name: bracketed, problem: 'is one value, without brackets.' })
    if (found.has(name)) {
      const known = names.find((each) => each === name)
      throw createError(
        known === undefined
          ? { name: QUERY, problem: 'a parameter occurs twice.' }
          : { name: known, problem: 'occurs twice.' },
      )
    }
    found.set(name, value)
  }
  const known: Partial<Record<Name, string>> = {}
  for (const name of names) {
    const value = found.get(name)
    if (value !== undefined) known[name] = value
  }
  return known
}

function decode(text: string, createError: (problem: InputProblem) => Error): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw createError({ name: QUERY, problem: 'has a malformed percent-escape.' })
  }
}
