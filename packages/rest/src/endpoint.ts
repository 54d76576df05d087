import type { ServerResponse } from 'node:http'
import { z } from 'zod'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The parts that all endpoints of a service share; each service defines this once, as a type. */
export type Surface = {
  /** The caller that a handler receives, by access level: `{ anyone: Visitor; member: SignedInUser }`. */
  readonly callers: object
  /** The names of the limits that an endpoint can count against. */
  readonly limit: string
  /** The codes of the service's error table. */
  readonly code: string
}

/** The access levels of a service. */
export type AccessOf<S extends Surface> = keyof S['callers'] & string

/** A file in a multipart/form-data body. */
export type Upload = {
  /** The form field with the file. */
  readonly field: string
  readonly maxBytes: number
  /** The most bytes of further files by form field. The body contains these in base64. */
  readonly attachments?: Readonly<Record<string, number>>
  /** The most text fields; by default the service decides. */
  readonly maxFields?: number
}

/** Everything about an endpoint except its handler. Requests are parsed with these schemas, which also become the OpenAPI document. */
export type Description<S extends Surface> = {
  readonly method: Method
  /** With `:name` for parameters, as in Express. */
  readonly path: string
  /** Unique in the service; generated clients name their functions after it. */
  readonly operationId: string
  readonly summary: string
  /** The group of the endpoint in the document. */
  readonly tag: string
  readonly access: AccessOf<S>
  readonly limit: S['limit']
  readonly params?: z.ZodObject | undefined
  readonly query?: z.ZodObject | undefined
  readonly body?: z.ZodType | undefined
  /** A missing body counts as `{}`. */
  readonly bodyIsOptional?: boolean
  /** The body is multipart/form-data with one file and the fields of `body`. */
  readonly upload?: Upload
  readonly status: 200 | 201 | 204 | 302
  readonly answer?: z.ZodType
  /** The media types of a response that is a file. */
  readonly answerTypes?: readonly string[]
  /** Whether the file has an `ETag`, so that a client that has it receives 304. */
  readonly isConditional?: boolean
  /** Codes beyond those that every endpoint of its kind can answer. */
  readonly errors: readonly S['code'][]
}

/** The parts of a request before they are parsed. */
export type RawInput = {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly file: Buffer | undefined
  readonly caller: unknown
}

/** Parses one part of a request with its schema. @throws the service's error for malformed input */
export type ParseInput = <T extends z.ZodType>(
  schema: T,
  value: unknown,
  part: 'params' | 'query' | 'body',
) => z.output<T>

/** An endpoint with its path and handler. `Deps` are the use cases that its handler calls. */
export type Endpoint<S extends Surface, Deps> = Description<S> & {
  /** Parses the input, runs the handler and returns its result. */
  readonly run: (input: RawInput, deps: Deps, parse: ParseInput) => Promise<unknown>
}

type NoFields = z.ZodObject<Record<string, never>>

/** A response that is a file, with its headers. One with an `ETag` is sent only to clients that do not have it. */
export class FileAnswer {
  readonly bytes: Uint8Array
  readonly headers: Readonly<Record<string, string>>

  constructor(bytes: Uint8Array, headers: Readonly<Record<string, string>>) {
    this.bytes = bytes
    this.headers = headers
  }
}

/**
 * A response that is JSON text already. Bytes are for large responses: they can be sent to many clients without a copy for
 * each, and are written in chunks.
 */
export class JsonText {
  readonly text: string | Buffer

  constructor(text: string | Buffer) {
    this.text = text
  }
}

/** A response that goes on after its handler. `start` writes it, and must end it when the service stops. */
export class StreamAnswer {
  readonly headers: Readonly<Record<string, string>>
  /**
   * Called unless the request is HEAD, before the headers are sent. It may throw or reject, which then closes the connection.
   * The client may have left already.
   */
  readonly start: (response: ServerResponse) => void | Promise<void>

  constructor(headers: Readonly<Record<string, string>>, start: (response: ServerResponse) => void | Promise<void>) {
    this.headers = headers
    this.start = start
  }
}

/** The value of a schema as handlers return it. It may be read-only, because it is only written as JSON. */
type Sendable<T> = unknown extends T ? T : T extends Date ? T : { readonly [Field in keyof T]: Sendable<T[Field]> }

/** An endpoint in one expression: access, input, response and handler. */
export type Definition<
  S extends Surface,
  Deps,
  Access extends AccessOf<S>,
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
  Answer extends z.ZodType,
> = Omit<Description<S>, 'access' | 'params' | 'query' | 'body' | 'status' | 'answer' | 'errors'> & {
  readonly access: Access
  readonly params?: Params
  readonly query?: Query
  /** Unknown members of an object are refused by name; those of nested objects only if these are strict. */
  readonly body?: Body
  /** 200 by default, 204 without an answer. */
  readonly status?: 200 | 201 | 204 | 302
  readonly answer?: Answer
  readonly errors?: readonly S['code'][]
  /** Gets parsed input and returns data. */
  readonly handle: (
    input: {
      readonly params: z.output<Params>
      readonly query: z.output<Query>
      readonly body: z.output<Body>
      readonly file: Buffer | undefined
      readonly caller: S['callers'][Access & keyof S['callers']]
    },
    deps: Deps,
  ) => Promise<Sendable<z.input<Answer>> | FileAnswer | JsonText | StreamAnswer>
}

const NO_FIELDS = z.object({}).optional()
const NOTHING = z.unknown()

/** Defines an endpoint; the types of its input and answer follow from its schemas. */
export type DefineEndpoint<S extends Surface, Deps> = <
  Access extends AccessOf<S>,
  Params extends z.ZodObject = NoFields,
  Query extends z.ZodObject = NoFields,
  Body extends z.ZodType = z.ZodUndefined,
  Answer extends z.ZodType = z.ZodVoid,
>(
  definition: Definition<S, Deps, Access, Params, Query, Body, Answer>,
) => Endpoint<S, Deps>

/**
 * Returns the function that defines endpoints of one service, whose handlers get the given use cases.
 *
 * @example
 * const endpoint = endpointsOf<Surface, { torrents: Torrents }>()
 * export const torrentEndpoints = [endpoint({ method: 'GET', path: '/api/torrents/:id', … })]
 */
export function endpointsOf<S extends Surface, Deps>(): DefineEndpoint<S, Deps> {
  return ({ handle, ...definition }) => {
    const { params, query, answer, answerTypes } = definition
    // An unknown member is refused, because a misspelt one would be ignored silently.
    const given: z.ZodType | undefined = definition.body
    const body = given instanceof z.ZodObject && given.def.catchall === undefined ? given.strict() : given
    type Input = Parameters<typeof handle>[0]
    return {
      ...definition,
      body,
      status: definition.status ?? (answer === undefined && answerTypes === undefined ? 204 : 200),
      errors: definition.errors ?? [],
      // The types were inferred from these schemas, which TypeScript cannot know of optional ones.
      run: (input, deps, parse) =>
        handle(
          {
            params: parse(params ?? NO_FIELDS, params && input.params, 'params') as Input['params'],
            query: parse(query ?? NO_FIELDS, query && input.query, 'query') as Input['query'],
            body: parse(body ?? NOTHING, input.body, 'body') as Input['body'],
            file: input.file,
            caller: input.caller as Input['caller'],
          },
          deps,
        ),
    }
  }
}
