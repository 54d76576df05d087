import express, { type RequestHandler, Router } from 'express'
import multer from 'multer'
import { apiError } from '../errors.ts'
import { type BoundEndpoint, type Endpoint, type FileAnswer, plain } from './endpoint.routes.ts'
import { type Access, type LimitKind, type Method, mayAccess } from './endpoint.ts'
import { callerOf } from './guards.middleware.ts'

/** What stands before every endpoint. */
export type Guards = {
  /** Refuses a request that another site made the browser send. */
  readonly refuseCrossSite: RequestHandler
  /** Finds the session; `callerOf` tells it from then on. */
  readonly identify: RequestHandler
  readonly limits: Readonly<Record<LimitKind, readonly RequestHandler[]>>
}

/** Text fields of an upload, in bytes, and how many. */
const MAX_FIELD_BYTES = 64 * 1024
const MAX_FIELDS = 20
const MAX_JSON = '128kb'

/** Uploads that are held in memory at once. */
const MAX_UPLOADS = 16

/** Serves endpoints, and answers other methods on their paths with 405. */
export function serveEndpoints(endpoints: readonly BoundEndpoint[], guards: Guards): Router {
  const router = Router({ caseSensitive: true, strict: true })
  for (const path of new Set(endpoints.map(({ endpoint }) => endpoint.path))) {
    const here = endpoints.filter(({ endpoint }) => endpoint.path === path)
    const route = router.route(path)
    for (const bound of here) mount(route, bound, guards)
    route.all((_request, response, next) => {
      response.set('Allow', allowed(here.map(({ endpoint }) => endpoint.method)))
      next(apiError('METHOD_NOT_ALLOWED', 'This path exists, but not with this method.'))
    })
  }
  return router
}

function allowed(methods: readonly Method[]): string {
  return methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ')
}

function mount(route: ReturnType<Router['route']>, bound: BoundEndpoint, guards: Guards): void {
  const { endpoint } = bound
  const limit = guards.limits[endpoint.limit]
  const body = bodyParsers(endpoint)
  const access = endpoint.access === 'anyone' ? [] : [requireAccess(endpoint.access)]
  const handlers: RequestHandler[] = [
    ...(endpoint.method === 'GET' ? [] : [guards.refuseCrossSite]),
    guards.identify,
    // Sign-in attempts are counted by the account they name, so their body is read first.
    ...(endpoint.limit === 'authentication' ? [...body, ...limit, ...access] : [...limit, ...access, ...body]),
    answer(bound),
  ]
  const add = { GET: 'get', POST: 'post', PATCH: 'patch', DELETE: 'delete' } as const
  route[add[endpoint.method]](...handlers)
}

function requireAccess(access: Access): RequestHandler {
  return (request, _response, next) => {
    const { session } = callerOf(request)
    if (session === undefined) throw apiError('UNAUTHORIZED', 'Sign in first.')
    if (session.account.state !== 'active') throw apiError('FORBIDDEN', `This account is ${session.account.state}.`)
    if (!mayAccess(session.account.role, access)) throw apiError('FORBIDDEN', 'Your role does not allow this.')
    next()
  }
}

function bodyParsers(endpoint: Endpoint): RequestHandler[] {
  if (endpoint.upload !== undefined) return [uploadParser(endpoint.upload)]
  if (endpoint.body === plain.body) return []
  return [
    (request, _response, next) => {
      // No body at all is a malformed one, which the schema says better; `is` answers null for it.
      if (request.is('application/json') === false)
        throw apiError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json.')
      next()
    },
    express.json({ limit: MAX_JSON, strict: true }),
  ]
}

/** Reads an upload into memory: one file and a few fields, all bounded. */
function uploadParser(upload: { field: string; maxBytes: number }): RequestHandler {
  const parse = multer({
    storage: multer.memoryStorage(),
    limits: {
      fileSize: upload.maxBytes,
      files: 1,
      fields: MAX_FIELDS,
      fieldSize: MAX_FIELD_BYTES,
      fieldNameSize: 100,
      parts: MAX_FIELDS + 1,
      headerPairs: 50,
    },
  }).single(upload.field)
  let reading = 0
  return (request, response, next) => {
    if (request.is('multipart/form-data') === false)
      throw apiError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as multipart/form-data.')
    if (reading >= MAX_UPLOADS) throw apiError('UNAVAILABLE', 'Too many uploads at once. Try again in a moment.')
    reading += 1
    response.once('close', () => {
      reading -= 1
    })
    parse(request, response, (error: unknown) => next(error === undefined ? undefined : refusedForm(error)))
  }
}

/** Forms are kept in memory, so whatever the parser fails with is the sender's doing: too much, broken or cut off. */
function refusedForm(error: unknown): Error {
  if (!(error instanceof multer.MulterError))
    return apiError('BAD_REQUEST', 'The multipart body is malformed.', { cause: error })
  return error.code === 'LIMIT_UNEXPECTED_FILE'
    ? apiError('BAD_REQUEST', 'There is a file in a field that takes none.')
    : apiError('PAYLOAD_TOO_LARGE', 'The upload is larger than allowed.')
}

function answer(bound: BoundEndpoint): RequestHandler {
  const { endpoint } = bound
  return async (request, response) => {
    const input = { params: request.params, query: request.query, body: request.body as unknown }
    const result = await bound.run(input, request.file?.buffer, callerOf(request))
    response.status(endpoint.status)
    if (endpoint.answerType !== undefined && isFileAnswer(result)) response.set(result.headers).end(result.bytes)
    else if (result === undefined) response.end()
    else response.json(result)
  }
}

function isFileAnswer(result: unknown): result is FileAnswer {
  return typeof result === 'object' && result !== null && 'bytes' in result && 'headers' in result
}
