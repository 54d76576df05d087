import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Proxy, startCaddy, startNginx } from '@vault-and-tracker/dev-env'
import { admin, createProject, type Key, signHeaders } from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'

const HOST = 'vault.example.org'
const PUBLIC = { PUBLIC_URL: `https://${HOST},http://127.0.0.1:0` }

let trusting: TestVault
let unaware: TestVault
let key: Key

beforeAll(async () => {
  trusting = await startVault({ ...PUBLIC, TRUSTED_PROXIES: '127.0.0.1' })
  unaware = await trusting.replica({ TRUSTED_PROXIES: '' })
  key = await createProject(trusting.url, 'shop')
})
afterAll(async () => {
  await unaware.stop()
  await trusting.stop()
})

async function fetchThrough({ port, trusted }: Proxy, localAddress: string) {
  const path = '/v1/secrets?env=production'
  const headers = await signHeaders({ project: 'shop', key, method: 'GET', url: `https://${HOST}${path}` })
  const agent = new Agent({ keepAlive: false, secureContext: trusted, localAddress })
  const options = { host: '127.0.0.1', port, servername: HOST, path, agent, headers: { host: HOST, ...headers } }
  const [response] = (await once(request(options).end(), 'response')) as [IncomingMessage]
  response.resume()
  return [response.statusCode, response.headers['www-authenticate']]
}

describe.each([
  ['nginx', startNginx],
  ['Caddy', startCaddy],
])('behind %s', (_name, start) => {
  test('a signed request over HTTPS is accepted, with the address that the proxy saw', async () => {
    const proxy = await start({ vault: [new URL(trusting.url).host] })
    expect(await fetchThrough(proxy, '127.0.0.3')).toEqual([200, undefined])
    await proxy.stop()
    const { body } = await admin(trusting.url, 'GET', '/audit?limit=1')
    expect(body).toEqual([expect.objectContaining({ ip: '127.0.0.3' })])
  })

  test('a vault that does not trust the proxy names it', async () => {
    const proxy = await start({ vault: [new URL(unaware.url).host] })
    expect(await fetchThrough(proxy, '127.0.0.3')).toEqual([401, expect.stringContaining('TRUSTED_PROXIES')])
    await proxy.stop()
  })
})
