import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, get, type IncomingHttpHeaders, type Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { listen } from '@vault-and-tracker/service-kit/http/server'
import { createUnreadAnswers, UNREAD_LIMITS } from '@vault-and-tracker/service-kit/http/unread-answers'
import express from 'express'
import { z } from 'zod'
import { endpointsOf, JsonText, serve } from '../src/index.ts'

type Words = { callers: { anyone: object }; limit: 'none'; code: 'none' }

const endpoint = endpointsOf<Words, object>()
const LONG = { words: 'the same again and ä '.repeat(200) }
const SHORT = { words: 'ä' }
// More than the buffers of both ends of a connection take, even compressed.
const LARGE = { words: randomBytes(18 * 1024 ** 2).toString('base64') }
const endpointAt = (path: string, answer: { words: string } | JsonText) =>
  endpoint({
    ...{ method: 'GET', path, operationId: path, summary: '', tag: '', access: 'anyone', limit: 'none' },
    answer: z.object({ words: z.string() }),
    handle: () => Promise.resolve(answer),
  })

let server: Server
let app: express.Express

beforeAll(async () => {
  const endpoints = [
    endpointAt('/long', LONG),
    endpointAt('/short', SHORT),
    endpointAt('/large', LARGE),
    endpointAt('/text', new JsonText(JSON.stringify(LONG))),
  ]
  app = express().use(
    serve<Words, object>(
      endpoints,
      {},
      {
        guards: { anyone: () => Promise.resolve({}) },
        readQuery: () => ({}),
        readBody: () => Promise.resolve({ body: undefined }),
        malformed: () => new Error('malformed'),
        notFound: () => new Error('not found'),
        methodNotAllowed: () => new Error('method not allowed'),
        answersHead: true,
        guardsMethods: () => false,
        compressFrom: 1_000,
      },
    ),
  )
  server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
})
afterAll(() => new Promise((resolve) => server.close(resolve)))

/** A response without decompression, unlike that of most clients. */
function ask(path: string, acceptEncoding?: string): Promise<{ headers: IncomingHttpHeaders; body: Buffer }> {
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const headers = acceptEncoding === undefined ? {} : { 'accept-encoding': acceptEncoding }
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve({ headers: response.headers, body: Buffer.concat(chunks) }))
    }).on('error', reject)
  })
}

test.each([
  ['gzip, deflate, br', 'br', brotliDecompressSync],
  ['gzip', 'gzip', gunzipSync],
  ['br;q=0, gzip', 'gzip', gunzipSync],
] as const)('a long response to Accept-Encoding: %s is sent as %s', async (accepted, encoding, decompress) => {
  const { headers, body } = await ask('/long', accepted)
  expect(headers).toMatchObject({
    'content-encoding': encoding,
    'content-type': 'application/json; charset=utf-8',
    vary: 'Accept-Encoding',
  })
  expect(body.length).toBeLessThan(JSON.stringify(LONG).length / 10)
  expect(JSON.parse(decompress(body).toString())).toEqual(LONG)
})

test.each([undefined, '', 'identity'])('a long response to Accept-Encoding: %s is not compressed', async (accepted) => {
  const { headers, body } = await ask('/long', accepted)
  expect([headers['content-encoding'], headers.vary]).toEqual([undefined, 'Accept-Encoding'])
  expect(JSON.parse(body.toString())).toEqual(LONG)
})

test.each(['/short', '/text'])(
  'a short response, or one that is JSON text already, is not compressed: %s',
  async (path) => {
    expect((await ask(path, 'gzip, br')).headers['content-encoding']).toBeUndefined()
  },
)

test('all bytes of a compressed response count as unread', async () => {
  const unread = createUnreadAnswers({ ...UNREAD_LIMITS, maxBytesPerConnection: 4 * 1024 ** 2, graceMs: 600_000 })
  const bounded = createServer(app)
  const running = await listen(bounded, { host: '127.0.0.1', port: 0 }, { unread })
  const accepted = once(bounded, 'connection')
  const silent = connect({ port: running.port, host: '127.0.0.1' }).pause()
  silent.on('error', () => undefined)
  try {
    const [socket] = (await accepted) as [Socket]
    silent.write('GET /large HTTP/1.1\r\nHost: test\r\nAccept-Encoding: br\r\n\r\n')
    await once(socket, 'close')
  } finally {
    silent.destroy()
    await running.drain()
  }
}, 10_000)
