import { once } from 'node:events'
import { Agent, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, test } from '@jest/globals'
import { sendFuzzed } from './fuzz.ts'

const ENCODERS = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync, identity: (bytes: Buffer) => bytes }

test.each(Object.entries(ENCODERS))('an answer that is encoded as %s is read', async (encoding, encode) => {
  const server = createServer((_request, response) => {
    response.setHeader('content-encoding', encoding).end(encode(Buffer.from('{"ok":true}')))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const agent = new Agent()
  try {
    const request = { operation: 'GET /', method: 'GET', target: '/', headers: {}, bytes: undefined }
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`
    expect(await sendFuzzed(url, request, {}, agent)).toEqual({ status: 200, text: '{"ok":true}' })
  } finally {
    agent.destroy()
    server.close()
  }
})
