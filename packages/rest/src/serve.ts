import { isKnown } from '@vault-and-tracker/service-kit/http/conditional-get'
import { endInChunks } from '@vault-and-tracker/service-kit/http/unread-answers'
import { type Request, type Response, Router } from 'express'
import { compressOnce } from './content.ts'
import {
  type AccessOf,
  type Description,
  type Endpoint,
  FileAnswer,
  JsonText,
  type ParseInput,
  StreamAnswer,
  type Surface,
} from './endpoint.ts'
import { type InputProblem, parseInput } from './input.ts'

/** The parsed body of a request, and its file if the endpoint takes an upload. */
export type ReadBody = {
  readonly body: unknown
  readonly file?: Buffer | undefined
  /** Releases what the body occupies. Called once, when the handler has returned or thrown. */
  readonly release?: (() => void) | undefined
}

/** Admits a request and returns its caller: applies limits and authenticates. @throws the service's error */
export type Guard<S extends Surface, Caller> = (
  endpoint: Description<S>,
  request: Request,
  response: Response,
) => Promise<Caller>

/** Runs around guard, input and handler, and sees the error that any of them throws. */
export type Around = <T>(request: Request, response: Response, work: () => Promise<T>) => Promise<T>

/** How one service reads and guards requests. */
export type Serving<S extends Surface> = {
  readonly guards: { readonly [Access in keyof S['callers']]: Guard<S, S['callers'][Access]> }
  /** Runs around the requests of an access level, for example a limit on failures. */
  readonly around?: { readonly [Access in keyof S['callers']]?: Around }
  /** The query as the schemas expect it. `names` are the parameters of the endpoint. */
  readonly readQuery: (request: Request, names: readonly string[]) => unknown
  /** Called after the guard if the endpoint has a body. If it throws, it has released its resources. */
  readonly readBody: (
    endpoint: Description<S>,
    request: Request,
    response: Response,
    caller: S['callers'][keyof S['callers']],
  ) => Promise<ReadBody>
  /** Creates the error for a malformed query or body. */
  readonly malformed: (problem: InputProblem) => Error
  /** Creates the error for an unknown path. */
  readonly notFound: () => Error
  /** Creates the error for a method that the path does not have; the `Allow` header is set already. */
  readonly methodNotAllowed: () => Error
  /** Whether HEAD is answered like GET, without the body. */
  readonly answersHead: boolean
  /**
   * Compresses JSON responses of at least this many bytes; by default none. Never compress a secret together with data that
   * someone else chose: the length shows how much they have in common (BREACH).
   */
  readonly compressFrom?: number
  /** Whether the methods of a path are secret: then its guard runs before the 405. */
  readonly guardsMethods: (access: AccessOf<S>) => boolean
}

/**
 * Serves endpoints: guard, input, handler, response, in this order. Other methods on their paths are refused with the list
 * of allowed ones (RFC 9110 section 15.5.6). Errors go to the error handler of the app.
 */
export function serve<S extends Surface, Deps>(
  endpoints: readonly Endpoint<S, Deps>[],
  deps: Deps,
  serving: Serving<S>,
): Router {
  const router = Router({ caseSensitive: true, strict: true })
  const parse: ParseInput = (schema, value, part) =>
    parseInput(schema, value, part === 'params' ? serving.notFound : serving.malformed)

  const { answersHead, around, compressFrom = Infinity } = serving
  const admit = (endpoint: Description<S>, request: Request, response: Response) =>
    serving.guards[endpoint.access as keyof S['callers']](endpoint, request, response)

  async function run(endpoint: Endpoint<S, Deps>, request: Request, response: Response): Promise<unknown> {
    const caller = await admit(endpoint, request, response)
    const query = serving.readQuery(request, endpoint.query === undefined ? [] : Object.keys(endpoint.query.shape))
    const hasBody = endpoint.body !== undefined || endpoint.upload !== undefined
    const { body, file, release } = hasBody ? await serving.readBody(endpoint, request, response, caller) : NO_BODY
    try {
      return await endpoint.run({ params: request.params, query, body, file, caller }, deps, parse)
    } finally {
      release?.()
    }
  }

  for (const [path, methods] of byPath(endpoints, answersHead)) {
    const allow = [...methods.keys()].join(', ')
    const [first] = methods.values()
    router.all(path, async (request, response) => {
      const endpoint = methods.get(request.method)
      if (endpoint === undefined) {
        if (first !== undefined && serving.guardsMethods(first.access)) await admit(first, request, response)
        response.setHeader('Allow', allow)
        throw serving.methodNotAllowed()
      }
      const work = () => run(endpoint, request, response)
      const runAround = around?.[endpoint.access]
      const result = await (runAround === undefined ? work() : runAround(request, response, work))
      response.statusCode = endpoint.status
      await send(request, response, result)
    })
  }

  async function send(request: Request, response: Response, result: unknown): Promise<void> {
    if (result === undefined) response.end()
    else if (result instanceof FileAnswer) sendFile(request, response, result)
    else if (result instanceof JsonText) sendJson(response, result.text)
    else if (result instanceof StreamAnswer) await sendStream(request, response, result)
    else {
      const text = JSON.stringify(result)
      sendJson(response, Buffer.byteLength(text) < compressFrom ? text : await compressOnce(request, response, text))
    }
  }
  return router
}

const NO_BODY: ReadBody = { body: undefined }

type Methods<S extends Surface, Deps> = ReadonlyMap<string, Endpoint<S, Deps>>

/** The endpoints of each path by method. */
function byPath<S extends Surface, Deps>(
  endpoints: readonly Endpoint<S, Deps>[],
  answersHead: boolean,
): ReadonlyMap<string, Methods<S, Deps>> {
  const paths = new Map<string, Map<string, Endpoint<S, Deps>>>()
  for (const endpoint of endpoints) {
    const { method, path } = endpoint
    const methods = paths.get(path) ?? new Map<string, Endpoint<S, Deps>>()
    if (methods.has(method)) throw new Error(`${method} ${path} is defined twice`)
    methods.set(method, endpoint)
    if (method === 'GET' && answersHead) methods.set('HEAD', endpoint)
    paths.set(path, methods)
  }
  return paths
}

/** Sends a file, or only that it has not changed if the client has its `ETag`. */
function sendFile(request: Request, response: Response, { bytes, headers }: FileAnswer): void {
  const etag = headers['ETag']?.replace(/^W\//, '')
  response.set(headers)
  if (etag === undefined || !isKnown(request, etag)) response.end(bytes)
  else {
    response.removeHeader('Content-Type')
    response.status(304).end()
  }
}

async function sendStream(request: Request, response: Response, { headers, start }: StreamAnswer): Promise<void> {
  response.set(headers)
  if (request.method === 'HEAD') response.end()
  else await start(response)
}

/** Sends text with its headers in one write, without Express's checks for a conditional request, and bytes in chunks. */
function sendJson(response: Response, text: string | Buffer): void {
  response.setHeader('Content-Type', 'application/json; charset=utf-8')
  response.setHeader('Content-Length', Buffer.byteLength(text))
  if (typeof text === 'string') response.end(text)
  else endInChunks(response, text)
}
