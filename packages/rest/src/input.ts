import type { z } from 'zod'

/**
 * A problem of a part of a request: the name of the parameter or member, '' for the whole part, and the rest of a sentence
 * that starts with it, such as `must be a string.`
 */
export type InputProblem = { readonly name: string; readonly problem: string }

/** An unknown member is named only if its name looks like a misspelt one. Anything else could be a misplaced secret. */
const MEMBER_NAME = /^[A-Za-z_]{1,32}$/

/** Parses a part of a request with its schema. @throws what `createError` returns for the first problem, without values */
export function parseInput<T extends z.ZodType>(
  schema: T,
  value: unknown,
  createError: (problem: InputProblem) => Error,
): z.output<T> {
  const result = schema.safeParse(value, { reportInput: false, error: describe })
  if (result.success) return result.data
  throw createError(problemOf(result.error.issues))
}

function problemOf([issue]: readonly z.core.$ZodIssue[]): InputProblem {
  if (issue === undefined) return { name: '', problem: 'is malformed.' }
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys
    return MEMBER_NAME.test(key)
      ? { name: key, problem: 'is not a known member.' }
      : { name: '', problem: 'has an unknown member.' }
  }
  const name = issue.path.map(String).join('.')
  const problem = issue.code === 'invalid_union' ? problemOfUnion(issue) : issue.message
  return { name, problem: problem.endsWith('.') ? problem : `${problem}.` }
}

/** The problem of a value that fits none of several schemas: that of the first schema with the right type. */
function problemOfUnion({ errors, message }: z.core.$ZodIssueInvalidUnion): string {
  const issues = errors.flatMap(([first]) => first ?? [])
  const ofTheType = issues.find(({ code }) => code !== 'invalid_type' && code !== 'invalid_value')
  return ofTheType?.message ?? message
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  null: 'null',
}

/** The message for a schema without its own. */
function describe(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return 'is required'
  if (issue.code === 'invalid_type') return `must be ${TYPES[issue.expected] ?? issue.expected}`
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`
  if (issue.code === 'too_small') return `must be at least ${bound(issue.origin, issue.minimum)}`
  if (issue.code === 'too_big') return `must be at most ${bound(issue.origin, issue.maximum)}`
  return 'is malformed'
}

function bound(origin: string, limit: number | bigint): string {
  return `${String(limit)}${origin === 'string' ? ' characters long' : ''}`
}

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
