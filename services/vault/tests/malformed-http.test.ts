import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { removeTemporaryFolder, type TestDatabase, temporaryFolder, testRedis } from '@vault-and-tracker/dev-env'
import { createVaultDatabase } from './support/vault.ts'
import { startVaultProcess, type VaultProcess } from './support/vault-process.ts'

let database: TestDatabase
let service: VaultProcess
const folder = temporaryFolder('malformed-http')

beforeAll(async () => {
  database = await createVaultDatabase()
  const { url: redisUrl } = await testRedis()
  service = await startVaultProcess({ folder, databaseUrl: database.appUrl, redisUrl })
})
afterAll(async () => {
  await service.process.stop()
  await database.drop()
  removeTemporaryFolder(folder)
})

/** Sends raw bytes, and reads until the vault closes the connection. */
function raw(bytes: string): Promise<{ head: string; body: string }> {
  return new Promise((resolve, reject) => {
    const socket = connect(service.port, '127.0.0.1', () => socket.write(bytes))
    let text = ''
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
    socket.on('error', reject)
    socket.on('close', () => {
      const [head = '', body = ''] = text.split('\r\n\r\n')
      resolve({ head, body })
    })
  })
}

test.each([
  ['no HTTP at all', 'hello\r\n\r\n'],
  ['a method in lower case', 'get /health HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a header without a name', 'GET /health HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n'],
  ['a folded header', 'GET /health HTTP/1.1\r\nHost: x\r\nSignature: a\r\n b\r\n\r\n'],
  ['NUL in a header', 'GET /health HTTP/1.1\r\nHost: x\0\r\n\r\n'],
  ['two lengths', 'PUT /v1/secrets HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
  [
    'a length and chunks',
    'PUT /v1/secrets HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
  ],
  ['headers of 20 KiB', `GET /health HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
])('answers %s with an error, and closes the connection', async (_name, bytes) => {
  const { head, body } = await raw(bytes)
  expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
  expect(head).toMatch(/Content-Type: application\/json/i)
  expect(head).toMatch(/Cache-Control: no-store/i)
  expect(JSON.parse(body)).toMatchObject({ error: 'invalid_request' })
})

test.each([
  ['in the same packet', '@@@\r\n\r\n'],
  ['without an end', '@@@'],
])('answers a request before the nonsense after it, %s', async (_when, nonsense) => {
  const { head, body } = await raw(`GET /ready HTTP/1.1\r\nHost: x\r\n\r\n${nonsense}`)
  expect(head).toMatch(/^HTTP\/1\.1 200 /)
  expect(body).toMatch(/^\{"ok":true,.*\}HTTP\/1\.1 400 /s)
})

const OFFER = 'Connection: Upgrade\r\nUpgrade: h2c\r\n'

test.each([
  ['alone', OFFER],
  ['with a body', `${OFFER}Content-Length: 44\r\n`],
])('answers an offer of h2c, %s, once over HTTP/1.1', async (_name, fields) => {
  const smuggled = 'GET /ready HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n'
  const { head, body } = await raw(`GET /health HTTP/1.1\r\nHost: x\r\n${fields}\r\n${smuggled}`)
  expect(head).toMatch(/^HTTP\/1\.1 200 .*Connection: close/s)
  expect(body).toBe('{"ok":true}')
})

test.each([101, 1_100])(
  '%i header fields are refused, regardless of their content, and the connection ends',
  async (count) => {
    const { head, body } = await raw(
      `GET /health HTTP/1.1\r\n${'a:\r\n'.repeat(count - 1)}Host: x\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n`,
    )
    expect(head).toMatch(/^HTTP\/1\.1 400 .*Connection: close/s)
    expect(JSON.parse(body)).toMatchObject({ error: 'invalid_request' })
  },
)

test('ignores an unknown expectation', async () => {
  const health = await raw('GET /health HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\nConnection: close\r\n\r\n')
  expect(health.body).toBe('{"ok":true}')
})

test('answers /health without Host, and refuses a signed request', async () => {
  const health = await raw('GET /health HTTP/1.1\r\nConnection: close\r\n\r\n')
  expect(health.body).toBe('{"ok":true}')
  const signed = 'Signature: a\r\nSignature-Input: a\r\nSignature-Agent: a\r\nConnection: close\r\n\r\n'
  expect((await raw(`GET /v1/secrets HTTP/1.1\r\n${signed}`)).body).toBe('{"error":"invalid_signature"}')
})
