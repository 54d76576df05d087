import { z } from 'zod'
import type { FileAnswer, JsonText } from './answer.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What the endpoints of one service have in common; each service gives it once, as a type. */
export type Surface = {
  /** What a handler knows of its caller, by access level: `{ anyone: Visitor; member: SignedInUser }`. */
  readonly callers: object
  /** The names of the limits that an endpoint can count against. */
  readonly limit: string
  /** The codes of the service's error table. */
  readonly code: string
}

/** Who may call an endpoint: an access level of the service. */
export type AccessOf<S extends Surface> = keyof S['callers'] & string

/** A file in a multipart/form-data body. */
export type Upload = {
  /** The form field that carries the file. */
  readonly field: string
  readonly maxBytes: number
}

/** Everything about an endpoint except what it does. Requests are parsed with these schemas, and the OpenAPI document is made of them. */
export type Description<S extends Surface> = {
  readonly method: Method
  /** With `:name` for parameters, as Express writes them. */
  readonly path: string
  /** Unique in the service; generated clients name their functions after it. */
  readonly operationId: string
  readonly summary: string
  /** The group that the document lists the endpoint under. */
  readonly tag: string
  readonly access: AccessOf<S>
  readonly limit: S['limit']
  readonly params: z.ZodObject | undefined
  readonly query: z.ZodObject | undefined
  readonly body: z.ZodType | undefined
  /** A body that is left out counts as `{}`. */
  readonly bodyIsOptional: boolean
  /** The body is multipart/form-data with one file, beside the fields of `body`. */
  readonly upload: Upload | undefined
  readonly status: 200 | 201 | 204
  readonly answer: z.ZodType | undefined
  /** The media type of an answer that is a file. */
  readonly answerType: string | undefined
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

/** Reads one part of a request by its schema. @throws the service's error for malformed input */
export type ParseInput = <T extends z.ZodType>(
  schema: T,
  value: unknown,
  part: 'params' | 'query' | 'body',
) => z.output<T>

/** An endpoint as it is served. `Deps` are the use cases that its handler calls. */
export type Endpoint<S extends Surface, Deps> = Description<S> & {
  /** Parses the input, runs the handler and returns what it answers. */
  readonly run: (input: RawInput, deps: Deps, parse: ParseInput) => Promise<unknown>
}

type NoFields = z.ZodObject<Record<string, never>>

/** An endpoint in one expression: who may call it, what it reads, what it answers, and its handler. */
export type Definition<
  S extends Surface,
  Deps,
  Access extends AccessOf<S>,
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
  Answer extends z.ZodType,
> = Pick<Description<S>, 'method' | 'path' | 'operationId' | 'summary' | 'tag' | 'limit'> & {
  readonly access: Access
  readonly params?: Params
  readonly query?: Query
  /** Unknown members of an object are refused by name; those of objects inside it where they are strict. */
  readonly body?: Body
  readonly bodyIsOptional?: boolean
  readonly upload?: Upload
  /** 200 by default, 204 where there is no answer. */
  readonly status?: 200 | 201 | 204
  readonly answer?: Answer
  readonly answerType?: string
  readonly errors?: readonly S['code'][]
  /** Gets parsed input; returns data, which is sent in one place. */
  readonly handle: (
    input: {
      readonly params: z.output<Params>
      readonly query: z.output<Query>
      readonly body: z.output<Body>
      readonly file: Buffer | undefined
      readonly caller: S['callers'][Access & keyof S['callers']]
    },
    deps: Deps,
  ) => Promise<z.input<Answer> | FileAnswer | JsonText>
}

/** An object that refuses unknown members: a misspelt one would be ignored, and its sender would not know. */
function withKnownMembers(body: z.ZodType): z.ZodType {
  return body instanceof z.ZodObject && body.def.catchall === undefined ? body.strict() : body
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
 * Returns the function that defines endpoints of one service for handlers with the given use cases.
 *
 * @example
 * const endpoint = endpointsOf<Surface, { torrents: Torrents }>()
 * export const torrentEndpoints = [endpoint({ method: 'GET', path: '/api/torrents/:id', … })]
 */
export function endpointsOf<S extends Surface, Deps>(): DefineEndpoint<S, Deps> {
  return (definition) => {
    const { params, query, answer, answerType, handle } = definition
    const body = definition.body && withKnownMembers(definition.body)
    type Input = Parameters<typeof handle>[0]
    return {
      method: definition.method,
      path: definition.path,
      operationId: definition.operationId,
      summary: definition.summary,
      tag: definition.tag,
      access: definition.access,
      limit: definition.limit,
      params,
      query,
      body,
      bodyIsOptional: definition.bodyIsOptional ?? false,
      upload: definition.upload,
      status: definition.status ?? (answer === undefined && answerType === undefined ? 204 : 200),
      answer,
      answerType,
      errors: definition.errors ?? [],
      // The types were inferred from these very schemas; TypeScript cannot know that of schemas that may be left out.
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
