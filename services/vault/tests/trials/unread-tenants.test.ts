import { once } from 'node:events'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { askUnread, eventually } from '@vault-and-tracker/dev-env'
import { type Answer, createProject, type Key, signedSend, signHeaders, statusAndError } from '../support/client.ts'
import { startVault, type TestVault } from '../support/vault.ts'

/** Six bytes of JSON per stored byte: the largest possible response. */
const COSTLY = '\u0001'.repeat(65_000)
const VALUES = 60

let vault: TestVault
let greedy: Key
let calm: Key
let url: string
let sockets: Socket[] = []

beforeAll(async () => {
  vault = await startVault()
  url = `${vault.url}/v1/secrets`
  greedy = await createProject(vault.url, 'greedy')
  calm = await createProject(vault.url, 'calm')
  for (let n = 0; n < VALUES; n++) {
    await put('greedy', greedy, `K${String(n)}`, COSTLY)
    await put('calm', calm, `K${String(n)}`, COSTLY)
  }
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await vault.stop()
})

function put(project: string, key: Key, name: string, value: string): Promise<Answer> {
  return signedSend({ project, key, method: 'PUT', url, body: { key: name, value, env: 'production' } })
}

function get(project: string, key: Key, env = 'production'): Promise<Answer> {
  return signedSend({ project, key, method: 'GET', url: `${url}?env=${env}` })
}

/** Sends requests without reading the responses, until no more arrive. */
async function leaveUnread(): Promise<Answer> {
  let last: Answer | undefined
  await eventually(async () => {
    const signed = await signHeaders({ project: 'greedy', key: greedy, method: 'GET', url })
    const lines = Object.entries({ Host: new URL(url).host, ...signed }).map(([name, value]) => `${name}: ${value}\r\n`)
    if (sockets.length < 6) sockets.push(await askUnread(url, `GET /v1/secrets HTTP/1.1\r\n${lines.join('')}\r\n`))
    last = await get('greedy', greedy, 'staging')
    return last.status !== 200
  })
  if (last === undefined) throw new Error('nothing was asked')
  return last
}

test.each(['abort', 'read'])(
  'a project that leaves its answers unread is unavailable, alone, until its clients %s',
  async (end) => {
    const refused = await leaveUnread()
    expect(statusAndError(refused)).toEqual([503, 'unavailable'])
    expect(refused.headers.get('retry-after')).toBe('1')

    expect((await get('calm', calm, 'staging')).status).toBe(200)
    expect(Object.keys((await get('calm', calm)).body as object)).toHaveLength(VALUES)

    for (const socket of sockets)
      if (end === 'abort') socket.destroy()
      else socket.resume()
    await eventually(async () => (await get('greedy', greedy, 'staging')).status === 200)
    for (const socket of sockets) socket.destroy()
    sockets = []
  },
)

test('completes the response of a slow reader', async () => {
  const signed = await signHeaders({ project: 'calm', key: calm, method: 'GET', url })
  const lines = Object.entries({ Host: new URL(url).host, Connection: 'close', ...signed })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const socket = await askUnread(url, `GET /v1/secrets HTTP/1.1\r\n${head}\r\n`)
  const chunks: Buffer[] = []
  while (!socket.readableEnded) {
    await Promise.race([once(socket, 'readable'), once(socket, 'end')])
    const chunk = socket.read() as Buffer | null
    if (chunk !== null) chunks.push(chunk)
  }
  const [, body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n')
  expect(Object.values(JSON.parse(body) as object)).toEqual(Array<string>(VALUES).fill(COSTLY))
})
