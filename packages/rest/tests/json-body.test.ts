import { get, type IncomingHttpHeaders, type Server } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import express from 'express'
import { sendCompressible } from '../src/json-body.ts'

const LONG = JSON.stringify({ words: 'the same again and ä '.repeat(200) })
const SHORT = JSON.stringify({ word: 'ä' })

let server: Server

beforeAll(async () => {
  const app = express()
  app.get('/long', (request, response) => sendCompressible(request, response, LONG, 1_000))
  app.get('/short', (request, response) => sendCompressible(request, response, SHORT, 1_000))
  server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
})
afterAll(() => new Promise((resolve) => server.close(resolve)))

/** An answer as it is on the wire; most clients would decompress it. */
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
  ['*', 'br', brotliDecompressSync],
] as const)('a long answer to Accept-Encoding: %s is sent as %s', async (accepted, encoding, decompress) => {
  const { headers, body } = await ask('/long', accepted)
  expect(headers).toMatchObject({
    'content-encoding': encoding,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(body.length),
    vary: 'Accept-Encoding',
  })
  expect(body.length).toBeLessThan(LONG.length / 10)
  expect(decompress(body).toString()).toBe(LONG)
})

test.each([undefined, '', 'identity', 'deflate'])(
  'a long answer to Accept-Encoding: %s is sent as it is',
  async (accepted) => {
    const { headers, body } = await ask('/long', accepted)
    expect([headers['content-encoding'], headers.vary]).toEqual([undefined, 'Accept-Encoding'])
    expect([headers['content-length'], body.toString()]).toEqual([String(Buffer.byteLength(LONG)), LONG])
  },
)

test('a short answer is sent as it is', async () => {
  const { headers, body } = await ask('/short', 'gzip, br')
  expect([headers['content-encoding'], headers.vary, body.toString()]).toEqual([undefined, undefined, SHORT])
})
