import { apiError } from '../errors.ts'

/**
 * Reads the query of a request target: every parameter is one well-formed string.
 *
 * `a=1&a=2`, `a[x]=1`, a broken percent-escape and an escape that is not UTF-8 are refused instead of guessed at.
 * Unknown parameters are ignored.
 *
 * @param target the request target as received, for example `/v1/secrets?env=staging`
 * @param names the parameters the endpoint knows
 * @returns the value of each one that is there
 * @throws invalid_request naming the parameter
 */
export function readQuery<Name extends string>(target: string, names: readonly Name[]): Partial<Record<Name, string>> {
  const start = target.indexOf('?')
  if (start === -1) return {}
  const found = new Map<string, string>()
  for (const pair of target.slice(start + 1).split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals === -1 ? pair : pair.slice(0, equals))
    const value = decode(equals === -1 ? '' : pair.slice(equals + 1))
    if (found.has(name)) throw apiError('invalid_request', 'a query parameter occurs twice')
    if (names.some((known) => name.startsWith(`${known}[`)))
      throw apiError('invalid_request', 'a query parameter is one string, without brackets')
    found.set(name, value)
  }
  const known: Partial<Record<Name, string>> = {}
  for (const name of names) {
    const value = found.get(name)
    if (value !== undefined) known[name] = value
  }
  return known
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw apiError('invalid_request', 'the query holds a malformed percent-escape')
  }
}
