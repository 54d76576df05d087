import type { z } from 'zod'

/**
 * What is wrong with a part of a request: the parameter or member by name, '' for the whole, and the end of a sentence that
 * begins with it, such as `must be a string.`
 */
export type InputProblem = { readonly name: string; readonly problem: string }

/** An unknown member is named while its name looks like a misspelt one: anything else could be a secret in the wrong place. */
const MEMBER_NAME = /^[A-Za-z_]{1,32}$/

/**
 * Reads a part of a request by its schema.
 *
 * @param createError makes the service's error of the first problem; the value itself is never in it
 * @throws what `createError` returns
 */
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
      ? { name: key, problem: 'is not known here.' }
      : { name: '', problem: 'has an unknown member.' }
  }
  const name = issue.path.map(String).join('.')
  const problem = issue.code === 'invalid_union' ? problemOfUnion(issue) : issue.message
  return { name, problem: problem.endsWith('.') ? problem : `${problem}.` }
}

/** What is wrong with a value that fits none of several schemas: what the first schema says that takes its type. */
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

/** Says what a value has to be, where its schema has no sentence of its own. */
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
