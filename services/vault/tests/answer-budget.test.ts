import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import { type Answer, createProject, type Key, signedSend, signHeaders, statusAndError } from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'

/** Six bytes of JSON for each byte that is stored: the largest answer that an environment can become. */
const COSTLY = '\u0001'.repeat(65_000)
const VALUES = 60

let vault: TestVault
let key: Key
let url: string
const sockets: Socket[] = []

beforeAll(async () => {
  vault = await startVault()
  url = `${vault.url}/v1/secrets`
  key = await createProject(vault.url, 'shop')
  for (let n = 0; n < VALUES; n++) {
    const body = { key: `K${String(n)}`, value: COSTLY, env: 'production' }
    await signedSend({ project: 'shop', key, method: 'PUT', url, body })
  }
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await vault.stop()
})

/** Asks for everything and reads nothing. */
async function askOnly(): Promise<void> {
  const headers = await signHeaders({ project: 'shop', key, method: 'GET', url })
  const { hostname, port, host } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  sockets.push(socket)
  socket.on('error', () => undefined).pause()
  await once(socket, 'connect')
  const lines = Object.entries({ Host: host, ...headers }).map(([name, value]) => `${name}: ${value}`)
  socket.write(`GET /v1/secrets HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
}

const fetchSmall = (): Promise<Answer> => signedSend({ project: 'shop', key, method: 'GET', url: `${url}?env=staging` })

test('while too many answers wait to be read, fetches are unavailable, and are answered again afterwards', async () => {
  for (let n = 0; n < 5; n++) await askOnly()
  let answer: Answer | undefined
  await eventually(async () => {
    answer = await fetchSmall()
    return answer.status !== 200
  })
  expect(answer && statusAndError(answer)).toEqual([503, 'unavailable'])
  expect(answer?.headers.get('retry-after')).toBe('1')

  for (const socket of sockets) socket.destroy()
  await eventually(async () => (await fetchSmall()).status === 200)
})
