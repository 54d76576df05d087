import { z } from 'zod'
import type { Session } from '../accounts/sessions.ts'
import { apiError, type ErrorCode } from '../errors.ts'
import type { Access, LimitKind, Method } from './endpoint.ts'

/** The schema of an input that an endpoint does not read, and of an answer without a body. */
const unread = z.unknown()
const nothing = z.void()

/** An answer that is not JSON, with the headers that belong to it. */
export type FileAnswer = { readonly bytes: Buffer; readonly headers: Readonly<Record<string, string>> }

/**
 * One endpoint as data: what guards it, what it reads, what it answers. Requests are parsed with these schemas, and the
 * OpenAPI document is made of them.
 */
export type Endpoint<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> = {
  readonly method: Method
  /** With `:name` for parameters. */
  readonly path: string
  readonly summary: string
  readonly access: Access
  readonly limit: LimitKind
  readonly params: Params
  readonly query: Query
  readonly body: Body
  /** The body is multipart/form-data with one file, in the field of this name, beside the fields of `body`. */
  readonly upload: { readonly field: string; readonly maxBytes: number } | undefined
  readonly status: 200 | 201 | 204
  readonly answer: Answer
  /** The media type of an answer that is a file. */
  readonly answerType: string | undefined
  /** Codes beyond those that every endpoint of its kind can answer. */
  readonly errors: readonly ErrorCode[]
}

/** What an endpoint is unless it says otherwise: reads nothing, answers nothing. */
export const plain = {
  params: unread,
  query: unread,
  body: unread,
  upload: undefined,
  answer: nothing,
  answerType: undefined,
  errors: [],
} as const

/** Checks a definition and keeps the types of its schemas. */
export function defineEndpoint<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Answer extends z.ZodType,
>(endpoint: Endpoint<Params, Query, Body, Answer>): Endpoint<Params, Query, Body, Answer> {
  return endpoint
}

/** Where a request came from, for limits and for the list of sessions. */
export type Caller = {
  readonly address: string
  readonly userAgent: string
  readonly session: Session | undefined
  setSession(token: string): void
  clearSession(): void
}

/** The unparsed parts of a request. */
export type RawInput = { readonly params: unknown; readonly query: unknown; readonly body: unknown }

/** An endpoint joined with what carries it out. */
export type BoundEndpoint = {
  readonly endpoint: Endpoint
  run(input: RawInput, file: Buffer | undefined, caller: Caller): Promise<unknown>
}

/**
 * Joins an endpoint with its handler.
 *
 * @param handler gets parsed input; `file` is present when the endpoint takes an upload
 */
export function bind<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Answer extends z.ZodType,
>(
  endpoint: Endpoint<Params, Query, Body, Answer>,
  handler: (input: {
    params: z.output<Params>
    query: z.output<Query>
    body: z.output<Body>
    file: Buffer | undefined
    caller: Caller
  }) => Promise<z.input<Answer>>,
): BoundEndpoint {
  return {
    endpoint,
    run: (input, file, caller) =>
      handler({
        params: parseInput(endpoint.params, input.params),
        query: parseInput(endpoint.query, input.query),
        body: parseInput(endpoint.body, input.body),
        file,
        caller,
      }),
  }
}

/** The session of an endpoint that needs one. */
export function sessionOf(caller: Caller): Session {
  if (caller.session === undefined) throw apiError('UNAUTHORIZED', 'Sign in first.')
  return caller.session
}

/**
 * Reads one part of a request.
 *
 * @throws ApiError BAD_REQUEST naming the first parameter that is wrong, never its value
 */
function parseInput<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value, { reportInput: false })
  if (result.success) return result.data
  const issue = result.error.issues[0]
  const name = issue === undefined ? '' : (issue.path.map(String)[0] ?? nameOf(issue))
  throw apiError('BAD_REQUEST', name === '' ? 'The body is malformed.' : `${name}: ${sentence(issue?.message)}`)
}

function nameOf(issue: z.core.$ZodIssue): string {
  return issue.code === 'unrecognized_keys' ? (issue.keys[0] ?? '') : ''
}

function sentence(message = 'is malformed'): string {
  return message.endsWith('.') ? message : `${message}.`
}
