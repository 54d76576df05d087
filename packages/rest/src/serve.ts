import { endInPieces } from '@vault-and-tracker/service-kit/pieces'
import { type Request, type Response, Router } from 'express'
import { FileAnswer, JsonText } from './answer.ts'
import type { AccessOf, Description, Endpoint, ParseInput, Surface } from './endpoint.ts'
import { type InputProblem, parseInput } from './input.ts'
import { sendCompressible } from './json-body.ts'

/** The body of a request, parsed; `file` where the endpoint takes an upload. */
export type ReadBody = {
  readonly body: unknown
  readonly file?: Buffer | undefined
  /** Gives back what the body holds. Called once the handler has ended, however it ended. */
  readonly release?: (() => void) | undefined
}

/**
 * Lets a request in, or throws the service's error: applies limits and finds out who calls.
 *
 * @returns what the handler gets to know of the caller
 */
export type Guard<S extends Surface, Caller> = (
  endpoint: Description<S>,
  request: Request,
  response: Response,
) => Promise<Caller>

/** Runs the guard, the input and the handler of a request, and sees which error any of them throws. */
export type Around = <T>(request: Request, response: Response, work: () => Promise<T>) => Promise<T>

/** How one service reads and guards requests. */
export type Serving<S extends Surface> = {
  readonly guards: { readonly [Access in keyof S['callers']]: Guard<S, S['callers'][Access]> }
  /** What runs around the requests of an access level, such as a limit on failures; nothing where there is none. */
  readonly around?: { readonly [Access in keyof S['callers']]?: Around }
  /** The query as the schemas expect it. `names` are the parameters that the endpoint knows. */
  readonly readQuery: (request: Request, names: readonly string[]) => unknown
  /**
   * Called for endpoints that read a body, after the guard. `caller` is what the guard found out. Where it throws, it has
   * given back what it took.
   */
  readonly readBody: (
    endpoint: Description<S>,
    request: Request,
    response: Response,
    caller: S['callers'][keyof S['callers']],
  ) => Promise<ReadBody>
  /** Makes the error for a query or body that is malformed. */
  readonly malformed: (problem: InputProblem) => Error
  /** Makes the error for a path that names nothing. */
  readonly notFound: () => Error
  /** Makes the error for a path without this method; the `Allow` header is set already. */
  readonly methodNotAllowed: () => Error
  /** Whether HEAD is answered as GET without its body. */
  readonly answersHead: boolean
  /**
   * JSON answers of at least so many bytes are compressed; none where it is left out. What a secret is in must not be
   * compressed together with what somebody else chose: the length tells how much they have in common (BREACH).
   */
  readonly compressFrom?: number
  /** Whether the methods of a path are a secret: then its guard comes before the 405. */
  readonly guardsMethods: (access: AccessOf<S>) => boolean
}

/**
 * Serves endpoints: guard, input, handler, answer, in this order. Other methods on their paths are refused with the
 * list of those there are (RFC 9110 section 15.5.6). Errors go to the error handler of the app.
 */
export function serve<S extends Surface, Deps>(
  endpoints: readonly Endpoint<S, Deps>[],
  deps: Deps,
  serving: Serving<S>,
): Router {
  const router = Router({ caseSensitive: true, strict: true })
  const parse: ParseInput = (schema, value, part) =>
    parseInput(schema, value, part === 'params' ? serving.notFound : serving.malformed)

  async function run(endpoint: Endpoint<S, Deps>, request: Request, response: Response): Promise<unknown> {
    const caller = await guardOf(endpoint, serving)(endpoint, request, response)
    const query = serving.readQuery(request, endpoint.query === undefined ? [] : Object.keys(endpoint.query.shape))
    const read = readsBody(endpoint) ? await serving.readBody(endpoint, request, response, caller) : NO_BODY
    const { body, file, release } = read
    try {
      return await endpoint.run({ params: request.params, query, body, file, caller }, deps, parse)
    } finally {
      release?.()
    }
  }

  for (const [path, here] of byPath(endpoints)) {
    const methods = new Map<string, Endpoint<S, Deps>>(here.map((endpoint) => [endpoint.method, endpoint]))
    const allow = [...methods.keys()].flatMap((method) => (hasHead(method, serving) ? [method, 'HEAD'] : [method]))
    const get = methods.get('GET')
    if (get !== undefined && serving.answersHead) methods.set('HEAD', get)
    const [first] = here
    router.all(path, async (request, response) => {
      const endpoint = methods.get(request.method)
      if (endpoint === undefined) {
        if (first !== undefined && serving.guardsMethods(first.access))
          await guardOf(first, serving)(first, request, response)
        response.setHeader('Allow', allow.join(', '))
        throw serving.methodNotAllowed()
      }
      const work = () => run(endpoint, request, response)
      const around = serving.around?.[endpoint.access]
      const result = around === undefined ? await work() : await around(request, response, work)
      response.statusCode = endpoint.status
      if (serving.compressFrom !== undefined && isJson(result))
        await sendCompressible(request, response, JSON.stringify(result), serving.compressFrom)
      else send(response, result)
    })
  }
  return router
}

const NO_BODY: ReadBody = { body: undefined }

function readsBody<S extends Surface>({ body, upload }: Description<S>): boolean {
  return body !== undefined || upload !== undefined
}

function guardOf<S extends Surface>(
  endpoint: Description<S>,
  serving: Serving<S>,
): Guard<S, S['callers'][keyof S['callers']]> {
  return serving.guards[endpoint.access]
}

function hasHead(method: string, { answersHead }: { readonly answersHead: boolean }): boolean {
  return method === 'GET' && answersHead
}

function byPath<S extends Surface, Deps>(
  endpoints: readonly Endpoint<S, Deps>[],
): ReadonlyMap<string, Endpoint<S, Deps>[]> {
  const paths = new Map<string, Endpoint<S, Deps>[]>()
  for (const endpoint of endpoints) {
    const here = paths.get(endpoint.path) ?? []
    if (here.some(({ method }) => method === endpoint.method))
      throw new Error(`${endpoint.method} ${endpoint.path} is defined twice`)
    paths.set(endpoint.path, [...here, endpoint])
  }
  return paths
}

function isJson(result: unknown): boolean {
  return result !== undefined && !(result instanceof FileAnswer) && !(result instanceof JsonText)
}

/** Sends an answer as it is. */
function send(response: Response, result: unknown): void {
  if (result === undefined) response.end()
  else if (result instanceof FileAnswer) response.set(result.headers).end(result.bytes)
  else sendJson(response, result instanceof JsonText ? result.text : JSON.stringify(result))
}

/** Text with its header in one write, without the checks of Express for a conditional request; bytes in pieces. */
function sendJson(response: Response, text: string | Buffer): void {
  response.setHeader('Content-Type', 'application/json; charset=utf-8')
  response.setHeader('Content-Length', Buffer.byteLength(text))
  if (typeof text === 'string') response.end(text)
  else endInPieces(response, text)
}
