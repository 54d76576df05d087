import type { InputProblem } from './input.ts'

/**
 * Reads the query of a request target. Every parameter must be one well-formed string: repeated parameters, brackets and
 * malformed percent-escapes are refused. Unknown parameters are ignored.
 *
 * @param target the request target as received, for example `/v1/secrets?env=staging`
 * @param names the parameters of the endpoint
 * @param createError creates the service's error of the first problem, without values
 * @throws what `createError` returns
 */
export function readQuery<Name extends string>(
  target: string,
  names: readonly Name[],
  createError: (problem: InputProblem) => Error,
): Partial<Record<Name, string>> {
  const start = target.indexOf('?')
  const found = new Map<string, string>()
  for (const pair of start === -1 ? [] : target.slice(start + 1).split('&')) {
    if (pair === '') continue
    const [encoded = '', ...rest] = pair.split('=')
    const name = decode(encoded, createError)
    const bracketed = names.find((known) => name.startsWith(`${known}[`))
    if (bracketed !== undefined) throw createError({ name: bracketed, problem: 'must be one value, without brackets.' })
    if (found.has(name)) {
      // An unknown name could be a misplaced secret, so it is not repeated.
      const known = names.find((each) => each === name)
      throw createError(
        known === undefined
          ? { name: 'query', problem: 'a parameter occurs twice.' }
          : { name: known, problem: 'occurs twice.' },
      )
    }
    found.set(name, decode(rest.join('='), createError))
  }
  const known = names.flatMap((name) => (found.has(name) ? [[name, found.get(name)]] : []))
  return Object.fromEntries(known) as Partial<Record<Name, string>>
}

function decode(text: string, createError: (problem: InputProblem) => Error): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw createError({ name: 'query', problem: 'has a malformed percent-escape.' })
  }
}
