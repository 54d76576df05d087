import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { isPublicAddress } from '../src/http/public-address.ts'
import { createReceiverClient, mayConnectTo } from '../src/http/receiver.ts'

let server: Server
let port: number
let requests = 0

beforeAll(async () => {
  server = createServer((request, response) => {
    requests += 1
    if (request.url === '/redirect') response.writeHead(302, { Location: '/elsewhere' }).end()
    else if (request.url === '/endless') {
      response.write(Buffer.alloc(64 * 1024))
      setInterval(() => response.write(Buffer.alloc(64 * 1024)), 5).unref()
    } else if (request.url === '/upgrade')
      request.socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    else if (request.url === '/unfinished') response.write('{')
    else if (request.url === '/busy') response.writeHead(503, { 'Retry-After': '7' }).end()
    else response.writeHead(204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const NEVER = new AbortController().signal
const delivery = (url: string, signal = NEVER) => ({ url, headers: {}, body: Buffer.from('{}'), signal })

test.each([
  ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '100.127.255.255', '127.0.0.1', '127.255.0.1', '169.254.169.254'],
  ...['172.16.0.1', '172.31.255.255', '192.0.0.1', '192.0.0.170', '192.0.2.1', '192.88.99.1', '192.168.1.1'],
  ...['0.255.255.255', '192.31.196.1', '192.52.193.1', '192.175.48.1'],
  ...['198.18.0.1', '198.19.255.255', '198.51.100.7', '203.0.113.9', '224.0.0.1', '239.255.255.255', '240.0.0.1'],
  ...['255.255.255.255', '::', '::1', '::127.0.0.1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:7f00:1'],
  ...['::FFFF:127.0.0.1', '0:0:0:0:0:ffff:a00:1', '::ffff:0:127.0.0.1', '64:ff9b::7f00:1', '64:ff9b::10.0.0.1'],
  ...['64:ff9b::808:808', '64:ff9b:1::1', '100::1', '1fff::1', '2001::1', '2001:1ff:ffff::1', '2001:db8::1'],
  ...['2002::1', '2002:7f00:1::', '2002:808:808::1', '4000::1'],
  ...[
    '3fff::1',
    '5f00::1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fe80::1%eth0',
    '2606:4700::1%1',
    'fec0::1',
    'ff02::1',
  ],
  ...['localhost', '', '1.2.3', '256.1.1.1', '0x08.8.8.8', '134744072', '8.8.8.8/8'],
])('%s is not a public address', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})

test.each([
  ...['1.1.1.1', '8.8.8.8', '100.63.255.255', '100.128.0.0', '172.15.0.1', '172.32.0.1', '192.0.1.1', '192.167.0.1'],
  ...['198.17.255.255', '223.255.255.255', '2606:4700::1111', '2a00:1450:4001::1', '2001:4860:4860::8888'],
  ...['2001:200::1', '2003::1', '2400:cb00::1', '2c0f:f248::1'],
])('%s is a public address', (address) => {
  expect(isPublicAddress(address)).toBe(true)
})

test.each([
  ...[
    'https://127.0.0.1',
    'https://2130706433',
    'https://0x7f.1',
    'https://0177.0.0.1',
    'https://[::1]',
    'https://[::]',
  ],
  ...[
    'https://[::ffff:10.0.0.1]',
    'https://localhost',
    'https://LOCALHOST',
    'https://localhost.',
    'https://a.localhost',
  ],
  ...['https://169.254.169.254', 'https://①②⑦.0.0.1'],
])('does not connect to %s unless private addresses are allowed', (url) => {
  const { hostname } = new URL(url)
  expect(mayConnectTo(false)(hostname)).toBe(false)
  expect(mayConnectTo(true)(hostname)).toBe(true)
})

test.each([
  ['a private address', ['127.0.0.1']],
  ['a private address among others', ['93.184.215.14', '127.0.0.1']],
  ['an IPv4-mapped address', ['::ffff:127.0.0.1']],
])('checks the addresses of a name when it connects: %s', async (_name, found) => {
  const resolve: NonNullable<Parameters<typeof createReceiverClient>[0]['resolve']> = (_hostname, _options, done) =>
    done(
      null,
      found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  const before = requests
  const send = createReceiverClient({ allowPrivate: false, resolve })
  expect(await send(delivery(`https://receiver.example:${String(port)}/`))).toEqual({ problem: 'refused address' })
  expect(requests).toBe(before)
  const allowed = createReceiverClient({ allowPrivate: true, resolve: (...args) => resolve(...args) })
  if (found[0] === '127.0.0.1')
    expect(await allowed(delivery(`http://receiver.example:${String(port)}/`))).toEqual({ status: 204 })
})

test('asks DNS servers itself, so that one which never responds delays no other lookup of the process', async () => {
  const asked: string[] = []
  const silent = createSocket('udp4').on('message', (query) => asked.push(query.toString('latin1')))
  silent.bind(0, '127.0.0.1')
  await once(silent, 'listening')
  const dnsServers = [`127.0.0.1:${String(silent.address().port)}`]
  const send = createReceiverClient({ allowPrivate: false, dnsServers })
  const stopping = new AbortController()
  const waiting = Array.from({ length: 10 }, (_, i) =>
    send(delivery(`https://silent${String(i)}.example/`, stopping.signal)),
  )
  while (new Set(asked.map((query) => /silent\d/.exec(query)?.[0])).size < 10)
    await new Promise((resolve) => setTimeout(resolve, 10))
  expect(await lookup('localhost')).toHaveProperty('address')
  stopping.abort()
  for (const attempt of await Promise.all(waiting)) expect(attempt).toHaveProperty('problem')
  silent.close()
})

test('refuses plain HTTP unless private addresses are allowed', async () => {
  const send = createReceiverClient({ allowPrivate: false })
  expect(await send(delivery('http://receiver.example/'))).toEqual({ problem: 'refused address' })
})

test('follows no redirect, and reads only the beginning of a response', async () => {
  const send = createReceiverClient({ allowPrivate: true })
  const url = `http://127.0.0.1:${String(port)}`
  const before = requests
  expect(await send(delivery(`${url}/redirect`))).toEqual({ status: 302 })
  expect(await send(delivery(`${url}/endless`))).toEqual({ status: 200 })
  expect(await send(delivery(`${url}/busy`))).toEqual({ status: 503, retryAfterMs: 7_000 })
  expect(requests).toBe(before + 3)
})

test('an answer that switches protocols ends the attempt and the connection', async () => {
  const connected = once(server, 'connection')
  const send = createReceiverClient({ allowPrivate: true })
  expect(await send(delivery(`http://127.0.0.1:${String(port)}/upgrade`))).toEqual({ status: 101 })
  const [socket] = (await connected) as [Socket]
  if (!socket.destroyed) await once(socket, 'close')
})

test('ends an attempt in time, whatever a receiver leaves unfinished: TLS, the response or its body', async () => {
  const silent = createTcpServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const silentPort = String((silent.address() as AddressInfo).port)
  const send = createReceiverClient({ allowPrivate: true, times: { timeoutMs: 200 } })
  const urls = ['https://127.0.0.1', 'http://127.0.0.1'].map((url) => `${url}:${silentPort}/`)
  for (const url of [...urls, `http://127.0.0.1:${String(port)}/unfinished`])
    expect(await send(delivery(url))).toEqual({ problem: 'timeout' })
  silent.close()
})

test('names the problem without the URL', async () => {
  const send = createReceiverClient({ allowPrivate: true })
  const refused = await send(delivery('http://127.0.0.1:1/?token=secret'))
  expect(refused).toEqual({ problem: 'no response (ECONNREFUSED)' })
  expect(await send(delivery('http://no-such-host.invalid/'))).toEqual({ problem: 'unknown host' })
  expect(await send(delivery(`https://127.0.0.1:${String(port)}/`))).toEqual({ problem: 'TLS failed' })
  const aborted = new AbortController()
  aborted.abort()
  expect(await send(delivery(`http://127.0.0.1:${String(port)}/`, aborted.signal))).toHaveProperty('problem')
})
