import { expect, test } from '@jest/globals'
import express, { type ErrorRequestHandler, type Express } from 'express'
import request from 'supertest'
import { z } from 'zod'
import { documentRoutes, endpointsOf, openApiDocument } from '../src/index.ts'

type Shop = { callers: { anyone: object; staff: object }; limit: 'none'; code: 'bad' | 'worse' | 'gone' }

const endpoint = endpointsOf<Shop, object>()
const part = z.object({ size: z.int() }).meta({ id: 'Part' })
const item = z.object({ name: z.string(), part, parts: z.array(part) }).meta({ id: 'Item' })
const create = endpoint({
  method: 'POST',
  path: '/items/:shelf',
  operationId: 'createItem',
  summary: 'Create an item',
  tag: 'items',
  access: 'staff',
  limit: 'none',
  params: z.object({ shelf: z.string() }),
  query: z.object({
    page: z
      .string()
      .regex(/^\d+$/)
      .transform(Number)
      .default(1)
      .meta({ type: 'integer', default: 1, description: 'which page' }),
  }),
  body: z.object({ name: z.string(), part, note: z.string().default('') }),
  status: 201,
  answer: z.object({ items: z.array(item) }),
  errors: ['bad', 'worse'],
  handle: () => Promise.resolve({ items: [] }),
})

const document = openApiDocument<Shop>([create], {
  title: 'Shop',
  version: '1.0.0',
  description: 'A shop.',
  tags: { items: 'What is sold' },
  securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: 'session' } },
  security: ({ access }) => (access === 'anyone' ? [] : [{ session: [] }]),
  errors: {
    bad: { status: 400, meaning: 'It is bad.' },
    worse: { status: 400, meaning: 'It is worse.' },
    gone: { status: 404, meaning: 'It is gone.' },
  },
  errorBody: z.object({ code: z.string() }).meta({ id: 'Error' }),
  codesOf: ({ errors }) => errors,
})
const operation = document.paths['/items/{shelf}']?.['post'] as Record<string, unknown>
const schemas = document.components['schemas'] as Record<string, unknown>

test('an operation has its id, tag, security and parameters', () => {
  expect(operation).toMatchObject({
    operationId: 'createItem',
    tags: ['items'],
    security: [{ session: [] }],
    parameters: [
      { name: 'shelf', in: 'path', required: true, schema: { type: 'string' } },
      { name: 'page', in: 'query', description: 'which page', schema: { type: 'integer', default: 1 } },
    ],
  })
  expect(JSON.stringify(operation['parameters'])).not.toContain('pattern')
})

test('named schemas are components, referenced wherever they occur', () => {
  expect(Object.keys(schemas)).toEqual(['Error', 'Item', 'Part'])
  expect(schemas['Item']).toMatchObject({
    properties: {
      part: { $ref: '#/components/schemas/Part' },
      parts: { type: 'array', items: { $ref: '#/components/schemas/Part' } },
    },
  })
  expect(operation['requestBody']).toMatchObject({
    required: true,
    content: {
      'application/json': {
        schema: { required: ['name', 'part'], properties: { part: { $ref: '#/components/schemas/Part' } } },
      },
    },
  })
  expect(JSON.stringify(document)).not.toMatch(/\$id|\$schema|\$defs|anonymous/)
})

test('codes of one status share a response that lists them', () => {
  expect(Object.keys(operation['responses'] as object)).toEqual(['201', '400'])
  expect(operation['responses']).toMatchObject({ 400: { description: '`bad`: It is bad.\n\n`worse`: It is worse.' } })
})

test('the operational paths are described too', () => {
  expect(Object.keys(document.paths)).toEqual(['/items/{shelf}', '/health', '/ready', '/metrics'])
})

function documentApp(): Express {
  return express()
    .disable('etag')
    .use(documentRoutes(() => document, { methodNotAllowed: () => new Error('not with this method') }))
    .use(((error: Error, _request, response, _next) => {
      response.status(405).send(error.message)
    }) satisfies ErrorRequestHandler)
}

test('the document and its page refer to no other host', async () => {
  const app = documentApp()
  const json = await request(app)
    .get('/openapi.json')
    .expect(200)
    .expect('content-type', /^application\/json/)
  expect(json.body).toEqual(JSON.parse(JSON.stringify(document)))
  const page = await request(app)
    .get('/docs')
    .expect(200)
    .expect('content-type', /^text\/html/)
  expect(page.text).not.toMatch(/https?:\/\//)
  expect(page.headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'")
  const loaded = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => String(path))
  expect(loaded).toEqual(
    expect.arrayContaining(['/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js', '/docs/start.js']),
  )
  for (const path of loaded) await request(app).get(path).expect(200)
})

test('the page is compressed if the client accepts it, and sent again only if it has changed', async () => {
  const app = documentApp()
  const path = '/docs/swagger-ui-bundle.js'
  const plain = await request(app).get(path).set('Accept-Encoding', 'identity').expect(200)
  expect(plain.headers['content-encoding']).toBeUndefined()
  const compressed = await request(app).get(path).set('Accept-Encoding', 'br, gzip').expect('content-encoding', 'br')
  expect(compressed.text).toBe(plain.text)
  expect(Number(compressed.headers['content-length'])).toBeLessThan(Number(plain.headers['content-length']) / 3)
  expect(compressed.headers).toMatchObject({ vary: 'Accept-Encoding', 'cache-control': 'public, max-age=604800' })
  const known = { 'Accept-Encoding': 'br, gzip', 'If-None-Match': String(compressed.headers['etag']) }
  expect((await request(app).get(path).set(known).expect(304)).text).toBe('')
  await request(app).get('/openapi.json').set(known).expect(200).expect('cache-control', 'no-cache')
  await request(app).head(path).expect(200)
})

test.each(['/docs', '/openapi.json', '/docs/start.js'])('other methods of %s are refused with Allow', async (path) => {
  await request(documentApp()).post(path).expect(405, 'not with this method').expect('allow', 'GET, HEAD')
})
