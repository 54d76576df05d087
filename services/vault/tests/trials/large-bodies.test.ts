import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createProject, type Key, signHeaders } from '../support/client.ts'
import { ADMIN_TOKEN, startVault, type TestVault } from '../support/vault.ts'

const OFFERED = 256 * 1024 ** 2
/** The size of the buffers at both ends of a connection. */
const BUFFERED = 32 * 1024 ** 2
const PIECE = Buffer.alloc(65_536, 'x')

let vault: TestVault
let key: Key

beforeAll(async () => {
  vault = await startVault()
  key = await createProject(vault.url, 'shop')
})
afterAll(() => vault.stop())

const signed = () => signHeaders({ project: 'shop', key, method: 'PUT', url: `${vault.url}/v1/secrets` })
const admin = () => Promise.resolve({ Authorization: `Bearer ${ADMIN_TOKEN}`, 'Content-Type': 'application/json' })
const nobody = () => Promise.resolve({})

/** Sends a body for as long as the vault reads it, and returns the status and how much was read. */
async function offer(line: string, headers: Record<string, string>, chunked: boolean): Promise<[number, number]> {
  const { hostname, port, host } = new URL(vault.url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.setEncoding('latin1').on('data', (text: string) => (answer += text))
  socket.on('error', () => undefined)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await once(socket, 'connect')
  const framing = chunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': String(OFFERED) }
  const lines = Object.entries({ Host: host, ...headers, ...framing }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`${line} HTTP/1.1\r\n${lines.join('')}\r\n`)
  let taken = 0
  while (taken < OFFERED && !socket.destroyed && socket.writable) {
    const whole = chunked ? Buffer.concat([Buffer.from('10000\r\n'), PIECE, Buffer.from('\r\n')]) : PIECE
    if (!socket.write(whole)) await Promise.race([once(socket, 'drain').catch(() => undefined), closed])
    taken += PIECE.length
  }
  socket.end()
  await closed
  return [Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0), taken]
}

test.each([
  ['of an application', 'PUT /v1/secrets', signed, 413],
  ['of an administrator', 'POST /v1/admin/projects', admin, 413],
  ['of nobody', 'PUT /v1/secrets', nobody, 401],
  ['for a path that names nothing', 'POST /nothing', nobody, 404],
])('refuses a body %s that is too large without reading all of it', async (_whose, line, headers, status) => {
  for (const chunked of [false, true]) {
    const [answered, taken] = await offer(line, await headers(), chunked)
    expect(answered).toBe(status)
    expect(taken).toBeLessThan(BUFFERED)
  }
})
