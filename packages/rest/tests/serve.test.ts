import { beforeEach, expect, test } from '@jest/globals'
import { ApiError } from '@vault-and-tracker/service-kit/core/errors'
import { runMiddleware } from '@vault-and-tracker/service-kit/http/rate-limit'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import express, { type Express } from 'express'
import request from 'supertest'
import { z } from 'zod'
import {
  type Around,
  createErrorHandler,
  endpointsOf,
  FileAnswer,
  JsonText,
  type Serving,
  serve,
} from '../src/index.ts'
import { undocumentedAnswer } from '../src/testing.ts'

type Code = keyof typeof ERRORS
type Shop = { callers: { anyone: { name: string }; staff: { name: string; role: string } }; limit: 'none'; code: Code }

const ERRORS = {
  malformed: { status: 400 },
  forbidden: { status: 403 },
  absent: { status: 404 },
  method: { status: 405 },
  internal: { status: 500 },
  unavailable: { status: 503 },
} as const

const steps: string[] = []
const lines: string[] = []
beforeEach(() => {
  steps.length = 0
  lines.length = 0
})

const endpoint = endpointsOf<Shop, { items: Map<string, string> }>()
const common = { tag: 'items', limit: 'none' } as const
const id = z.object({ id: z.string().regex(/^\d+$/) })

const ENDPOINTS = [
  endpoint({
    ...common,
    method: 'GET',
    path: '/items/:id',
    operationId: 'getItem',
    summary: 'One item',
    access: 'anyone',
    params: id,
    query: z.object({ upper: z.enum(['yes', 'no']).default('no') }),
    answer: z.strictObject({ name: z.string(), by: z.string() }),
    handle: ({ params, query, caller }, { items }) => {
      steps.push('handle')
      const name = items.get(params.id) ?? 'nothing'
      return Promise.resolve({ name: query.upper === 'yes' ? name.toUpperCase() : name, by: caller.name })
    },
  }),
  endpoint({
    ...common,
    method: 'PUT',
    path: '/items/:id',
    operationId: 'putItem',
    summary: 'Write an item',
    access: 'staff',
    params: id,
    body: z.strictObject({
      name: z.string().max(5),
      count: z.int().min(1).optional(),
      kind: z.enum(['a', 'b']).optional(),
      code: z
        .union([z.literal(''), z.string().max(3)])
        .nullable()
        .optional(),
    }),
    handle: ({ params, body }, { items }) => {
      steps.push('handle')
      items.set(params.id, body.name)
      return Promise.resolve()
    },
  }),
  endpoint({
    ...common,
    method: 'GET',
    path: '/file',
    operationId: 'getFile',
    summary: 'A file',
    access: 'anyone',
    answerTypes: ['text/plain'],
    handle: () => Promise.resolve(new FileAnswer(Buffer.from('bytes'), { 'Content-Type': 'text/plain' })),
  }),
  endpoint({
    ...common,
    method: 'POST',
    path: '/text',
    operationId: 'getText',
    summary: 'JSON that is text already',
    access: 'anyone',
    status: 201,
    answer: z.object({ ü: z.int() }),
    handle: () => Promise.resolve(new JsonText('{"ü":1}')),
  }),
  endpoint({
    ...common,
    method: 'DELETE',
    path: '/secret',
    operationId: 'deleteSecret',
    summary: 'Whose methods only staff may know',
    access: 'staff',
    handle: () => Promise.reject(new Error('a fault with a password in its message')),
  }),
]

const serving: Serving<Shop> = {
  guards: {
    anyone: () => {
      steps.push('guard')
      return Promise.resolve({ name: 'somebody' })
    },
    staff: (_endpoint, request) => {
      steps.push('guard')
      if (request.get('x-role') !== 'staff') return Promise.reject(new ApiError('forbidden', 'staff only'))
      return Promise.resolve({ name: 'clerk', role: 'staff' })
    },
  },
  readQuery: (request) => {
    steps.push('query')
    return request.query
  },
  readBody: async (_endpoint, request, response) => {
    steps.push('body')
    await runMiddleware(express.json(), request, response)
    return { body: request.body as unknown }
  },
  malformed: ({ name, problem }) => new ApiError('malformed', `${name}|${problem}`),
  notFound: () => new ApiError('absent', 'no such item'),
  methodNotAllowed: () => new ApiError('method', 'not with this method'),
  answersHead: true,
  guardsMethods: (access) => access === 'staff',
}

function shop(options: Partial<Serving<Shop>> = {}): Express {
  const caused = (code: Code) => (cause: unknown) => new ApiError(code, code, { cause })
  const app = express()
  app.use(serve(ENDPOINTS, { items: new Map([['1', 'one']]) }, { ...serving, ...options }))
  app.use(
    createErrorHandler<Code>({
      table: ERRORS,
      present: ({ code, message }) => ({ body: { code, message }, headers: { 'x-code': code } }),
      standard: {
        unavailable: caused('unavailable'),
        internal: caused('internal'),
        malformedPath: caused('absent'),
        malformedBody: caused('malformed'),
        bodyTooLarge: caused('malformed'),
        bodyNotSupported: caused('malformed'),
      },
      logger: createLogger({ name: 'test', level: 'debug', destination: { write: (line) => void lines.push(line) } }),
    }),
  )
  return app
}

test('a request passes guard, query, body and handler in this order, and the result is sent', async () => {
  await request(shop()).get('/items/1?upper=yes').expect(200, { name: 'ONE', by: 'somebody' })
  expect(steps).toEqual(['guard', 'query', 'handle'])
  steps.length = 0
  await request(shop()).put('/items/1').set('x-role', 'staff').send({ name: 'new' }).expect(204, '')
  expect(steps).toEqual(['guard', 'query', 'body', 'handle'])
})

test('a request that the guard refuses is not read any further', async () => {
  await request(shop()).put('/items/1').send({ name: 'new' }).expect(403, { code: 'forbidden', message: 'staff only' })
  expect(steps).toEqual(['guard'])
})

test('around sees the errors of guard and handler, and can replace them', async () => {
  const seen: unknown[] = []
  const around: Around = async (_request, _response, work) => {
    try {
      return await work()
    } catch (error) {
      seen.push(error)
      throw new ApiError('absent', 'replaced')
    }
  }
  const app = shop({ around: { staff: around } })
  await request(app).delete('/secret').expect(404, { code: 'absent', message: 'replaced' })
  await request(app).delete('/secret').set('x-role', 'staff').expect(404)
  expect(seen).toMatchObject([{ message: 'staff only' }, { message: 'a fault with a password in its message' }])
  await request(app).get('/items/1').expect(200)
})

test('files and JSON text are sent unchanged', async () => {
  await request(shop())
    .get('/file')
    .expect(200, 'bytes')
    .expect('content-type', /^text\/plain/)
  await request(shop())
    .post('/text')
    .expect(201, { ü: 1 })
    .expect('content-length', '8')
    .expect('content-type', 'application/json; charset=utf-8')
})

test.each([
  [{}, 'name|is required.'],
  [{ name: 1 }, 'name|must be a string.'],
  [{ name: 'too long' }, 'name|must be at most 5 characters long.'],
  [{ name: 'a', count: 0 }, 'count|must be at least 1.'],
  [{ name: 'a', count: 1.5 }, 'count|must be a whole number.'],
  [{ name: 'a', kind: 'c' }, 'kind|must be one of a, b.'],
  [{ name: 'a', code: 'long' }, 'code|must be at most 3 characters long.'],
  [{ name: 'a', code: 1 }, 'code|is malformed.'],
  [{ name: 'a', other: 1 }, 'other|is not a known member.'],
  [{ name: 'a', 'a secret: x y z': 1 }, '|has an unknown member.'],
  [[], '|must be an object.'],
])('the body %j is refused with %j', async (body, message) => {
  await request(shop()).put('/items/1').set('x-role', 'staff').send(body).expect(400, { code: 'malformed', message })
})

test('an invalid path parameter is not found', async () => {
  await request(shop()).get('/items/x').expect(404, { code: 'absent', message: 'no such item' })
  await request(shop()).get('/items/%zz').expect(404)
})

test('another method is refused with the list of allowed ones, including HEAD if it is answered', async () => {
  await request(shop()).post('/items/1').expect(405).expect('allow', 'GET, HEAD, PUT')
  await request(shop({ answersHead: false }))
    .head('/items/1')
    .expect(405)
    .expect('allow', 'GET, PUT')
  expect((await request(shop()).head('/items/1').expect(200)).text).toBeUndefined()
})

test('the methods of a guarded path are listed only for callers that pass the guard', async () => {
  const refused = await request(shop()).get('/secret').expect(403)
  expect(refused.headers['allow']).toBeUndefined()
  await request(shop()).get('/secret').set('x-role', 'staff').expect(405).expect('allow', 'DELETE')
})

test('an unexpected error is logged and answered without its message', async () => {
  await request(shop())
    .delete('/secret')
    .set('x-role', 'staff')
    .expect(500, { code: 'internal', message: 'internal' })
    .expect('x-code', 'internal')
  expect(lines.join('')).toContain('request failed')
})

test('the message of a body parser is not logged, because it may repeat the body', async () => {
  const body = '{"name":"canary'
  const put = request(shop()).put('/items/1').set('x-role', 'staff').set('content-type', 'application/json')
  await put.send(body).expect(400)
  expect(lines.join('')).toContain('entity.parse.failed')
  expect(lines.join('')).not.toContain('canary')
})

test('an endpoint that is defined twice is an error', () => {
  const [first] = ENDPOINTS
  if (first === undefined) throw new Error('no endpoint')
  expect(() => serve([first, first], { items: new Map() }, serving)).toThrow('GET /items/:id is defined twice')
})

const judge = (status: number, body: unknown, code?: string) =>
  undocumentedAnswer<Shop>(ENDPOINTS, () => ['forbidden'], ERRORS, {
    method: 'GET',
    pathname: '/items/7',
    status,
    body,
    code,
  })

test('undocumented responses are detected', () => {
  expect(judge(200, { name: 'a', by: 'b' })).toBeUndefined()
  expect(judge(403, {}, 'forbidden')).toBeUndefined()
  expect(judge(201, { name: 'a', by: 'b' })).toContain('answered 201')
  expect(judge(200, { name: 'a' })).toContain('schema')
  expect(judge(200, { name: 'a', by: 'b', more: 1 })).toContain('schema')
  expect(judge(400, {}, 'forbidden')).toContain('answered 400 forbidden, which is not documented')
  expect(judge(200, undefined)).toContain('schema')
  expect(judge(404, {}, 'absent')).toContain('answered 404 absent, which is not documented')
})
