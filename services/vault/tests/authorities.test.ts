import { once } from 'node:events'
import { type IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Proxy, startCaddy, startNginx } from '@vault-and-tracker/dev-env'
import { admin, createProject, type Key, signHeaders } from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'

/** A vault with two public addresses behind a proxy at 127.0.0.2. */
const PUBLIC_URL = 'https://vault.example, http://Inside.Example:4200'
const MISDIRECTED = [421, 'misdirected_request']

let local: TestVault
let vault: TestVault
let key: Key

beforeAll(async () => {
  local = await startVault()
  key = await createProject(local.url, 'shop')
  vault = await local.replica({ PUBLIC_URL, TRUSTED_PROXIES: '127.0.0.2' })
})
afterAll(async () => {
  await vault.stop()
  await local.stop()
})

type Received = { status: number; body: string }

/** Sends a request with these header lines, and reads until the vault closes the connection. */
function sendLines(lines: readonly string[], from = '127.0.0.1', target = 'GET /v1/secrets'): Promise<Received> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(new URL(vault.url).port), host: '127.0.0.1', localAddress: from })
    let text = ''
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
    socket.on('error', reject)
    socket.on('close', () => {
      const [head = '', body = ''] = text.split('\r\n\r\n')
      resolve({ status: Number(head.split(' ')[1]), body })
    })
    socket.write(`${[`${target} HTTP/1.1`, ...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`)
  })
}

const codeOf = ({ status, body }: Received) => [status, (JSON.parse(body) as { error?: string }).error]

async function signedLines(url: string): Promise<string[]> {
  const headers = await signHeaders({ project: 'shop', key, method: 'GET', url: `${url}/v1/secrets` })
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
}

test('refuses a request signed for another host before verifying its signature', async () => {
  const lines = await signedLines('http://false.example')
  expect(codeOf(await sendLines(['Host: false.example', ...lines]))).toEqual(MISDIRECTED)
  expect(codeOf(await sendLines(['Host: false.example', 'Signature: nonsense']))).toEqual(MISDIRECTED)
  expect(codeOf(await sendLines(['Host: false.example']))).toEqual(MISDIRECTED)
})

test('refuses another host that a trusted proxy forwards', async () => {
  const lines = ['X-Forwarded-Host: false.example', ...(await signedLines('http://false.example'))]
  expect(codeOf(await sendLines(['Host: vault.example', ...lines], '127.0.0.2'))).toEqual(MISDIRECTED)
})

test('refuses loopback hosts if PUBLIC_URL has others', async () => {
  const { host, origin } = new URL(vault.url)
  expect(codeOf(await sendLines([`Host: ${host}`, ...(await signedLines(origin))]))).toEqual(MISDIRECTED)
  expect((await admin(vault.url, 'GET', '/projects')).status).toBe(421)
})

test('refuses two Host headers if one of them is wrong', async () => {
  const lines = await signedLines('http://inside.example:4200')
  const hosts = ['Host: inside.example:4200', 'Host: false.example']
  expect(codeOf(await sendLines([...hosts, ...lines]))).toEqual(MISDIRECTED)
})

test.each([
  ['https://vault.example', 'vault.example', 'https'],
  ['https://vault.example', 'VAULT.example', 'https'],
  ['https://vault.example', 'vault.example:443', 'https'],
  ['http://inside.example:4200', 'inside.example:4200', 'http'],
])('with PUBLIC_URL %s, accepts the Host %s', async (url, host, scheme) => {
  const lines = [`Host: ${host}`, `X-Forwarded-Proto: ${scheme}`, ...(await signedLines(url))]
  expect((await sendLines(lines, '127.0.0.2')).status).toBe(200)
})

test.each(['vault.example:80', 'vault.example:4200', 'inside.example', 'vault.example.', 'user@vault.example', 'x'])(
  '%s is not ours',
  async (host) => {
    expect(codeOf(await sendLines([`Host: ${host}`]))).toEqual(MISDIRECTED)
  },
)

test('answers probes for any host', async () => {
  for (const path of ['/health', '/ready', '/metrics'])
    expect((await sendLines(['Host: 10.0.0.7:4200'], '127.0.0.1', `GET ${path}`)).status).toBe(200)
})

test.each(['gzip, chunked', 'chunked, chunked', 'identity', 'gzip', 'chunked;a=b'])(
  'the Transfer-Encoding %s is refused',
  async (encoding) => {
    const lines = ['Host: vault.example', `Transfer-Encoding: ${encoding}`]
    const { status, body } = await sendLines(lines, '127.0.0.1', 'PUT /v1/secrets')
    expect([status, (JSON.parse(body) as { error: string }).error]).toEqual([400, 'invalid_request'])
  },
)

describe('over TLS', () => {
  const HOST = 'vault.example.org'
  const PUBLIC = { PUBLIC_URL: `https://${HOST},http://127.0.0.1:0` }

  let trusting: TestVault
  let unaware: TestVault

  beforeAll(async () => {
    trusting = await local.replica({ ...PUBLIC, TRUSTED_PROXIES: '127.0.0.1' })
    unaware = await trusting.replica({ TRUSTED_PROXIES: '' })
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
})
