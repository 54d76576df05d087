import { get, type IncomingHttpHeaders, type Server } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import express from 'express'
import { z } from 'zod'
import { endpointsOf, JsonText, serve } from '../src/index.ts'

type Words = { callers: { anyone: object }; limit: 'none'; code: 'none' }

const endpoint = endpointsOf<Words, object>()
const LONG = { words: 'the same again and ä '.repeat(200) }
const SHORT = { words: 'ä' }
const endpointAt = (path: string, answer: { words: string } | JsonText) =>
  endpoint({
    ...{ method: 'GET', path, operationId: path, summary: '', tag: '', access: 'anyone', limit: 'none' },
    answer: z.object({ words: z.string() }),
    handle: () => Promise.resolve(answer),
  })

let server: Server

beforeAll(async () => {
  const endpoints = [
    endpointAt('/long', LONG),
    endpointAt('/short', SHORT),
    endpointAt('/text', new JsonText(JSON.stringify(LONG))),
  ]
  const app = express().use(
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

/** A response as it is on the wire. Most clients would decompress it. */
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
