import { once } from 'node:events'
import { Agent, createServer, get, type IncomingMessage, type Server } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { askUntilRefused, eventually } from '@vault-and-tracker/dev-env'
import { answerMalformed, listen, type RunningServer } from '../src/http/server.ts'

async function request(
  port: number,
  agent: Agent,
  path = '/',
): Promise<{ status: number; connection: string | undefined }> {
  const [response] = (await once(get({ host: '127.0.0.1', port, path, agent }), 'response')) as [IncomingMessage]
  response.resume()
  await once(response, 'end')
  return { status: response.statusCode ?? 0, connection: response.headers.connection }
}

function slowServer(): Server {
  return createServer((incoming, response) => {
    setTimeout(() => response.end('x'), incoming.url === '/slow' ? 300 : 0)
  })
}

function plainServer(): Server {
  return createServer((_incoming, response) => response.end('x'))
}

function urlOf({ port }: RunningServer): string {
  return `http://127.0.0.1:${String(port)}`
}

test('a port that is in use is reported with the variable that changes it', async () => {
  const first = await listen(slowServer(), { host: '127.0.0.1', port: 0 })
  const second = listen(slowServer(), { host: '127.0.0.1', port: first.port })
  await expect(second).rejects.toThrow('set PORT')
  await first.drain()
})

test.each(['no-such-host.invalid', '192.0.2.1'])(
  'a host that is not a local address, %s, is reported with the variable',
  async (host) => {
    const running = listen(slowServer(), { host, port: 0 })
    await expect(running).rejects.toThrow('correct HOST')
  },
)

test('an idle connection outlives those of a proxy, which closes them after 60 seconds', async () => {
  const running = await listen(slowServer(), { host: '127.0.0.1', port: 0 })
  const answer = await fetch(`http://127.0.0.1:${String(running.port)}`)
  expect(answer.headers.get('keep-alive')).toBe('timeout=75')
  await answer.text()
  await running.drain()
})

test('a drain without requests in progress ends at once, even if called twice', async () => {
  const running = await listen(slowServer(), { host: '127.0.0.1', port: 0 })
  await Promise.all([running.drain(), running.drain()])
  await expect(fetch(`http://127.0.0.1:${String(running.port)}`)).rejects.toThrow()
})

test('a request in progress is answered with Connection: close', async () => {
  const server = slowServer()
  const running = await listen(server, { host: '127.0.0.1', port: 0 })
  const agent = new Agent({ keepAlive: true })
  const arrived = once(server, 'request')
  const answer = request(running.port, agent, '/slow')
  await arrived
  const drained = running.drain()
  expect(await answer).toEqual({ status: 200, connection: 'close' })
  await drained
  agent.destroy()
})

test('a connection that is idle when the drain begins can still send one request', async () => {
  const running = await listen(slowServer(), { host: '127.0.0.1', port: 0 })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  await request(running.port, agent)
  const drained = running.drain()
  expect(await request(running.port, agent)).toEqual({ status: 200, connection: 'close' })
  await drained
  agent.destroy()
})

test('a client that connects just before a drain has a second for its request', async () => {
  const server = plainServer()
  const running = await listen(server, { host: '127.0.0.1', port: 0 })
  const [slow, silent] = [connect(running.port, '127.0.0.1'), connect(running.port, '127.0.0.1')]
  await Promise.all([once(server, 'connection'), once(slow, 'connect'), once(silent, 'connect')])
  const drained = running.drain()
  const answers = Promise.all([slow, silent].map((client) => text(client)))
  await sleep(600)
  slow.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  expect(await answers).toEqual([expect.stringMatching(/^HTTP\/1\.1 200 /), ''])
  await drained
})

test('a drain loses no request of clients that never pause', async () => {
  const running = await listen(plainServer(), { host: '127.0.0.1', port: 0 })
  const agents = Array.from({ length: 20 }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
  const load = askUntilRefused(urlOf(running), 20, (client) => agents[client] ?? new Agent())
  await eventually(() => load.answered() > 200)
  await running.drain()
  expect(await load.failures).toEqual([])
  for (const agent of agents) agent.destroy()
})

test.each(['Content-Length: 1000000000', 'Transfer-Encoding: chunked'])(
  'a long body that is not used, %s, is not read, and its client gets the response',
  async (framing) => {
    const running = await listen(slowServer(), { host: '127.0.0.1', port: 0 })
    const client = connect(running.port, '127.0.0.1')
    let answer = ''
    client.setEncoding('latin1').on('data', (text: string) => (answer += text))
    client.on('error', () => undefined)
    const closed = new Promise((resolve) => client.once('close', resolve))
    client.write(`POST / HTTP/1.1\r\nHost: x\r\n${framing}\r\n\r\n`)
    await closed
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    expect(answer).toMatch(/^Connection: close/m)
    await running.drain()
  },
)

test('a short body that is not used does not end the connection', async () => {
  const running = await listen(slowServer(), { host: '127.0.0.1', port: 0 })
  const client = connect(running.port, '127.0.0.1')
  let answers = ''
  client.setEncoding('latin1').on('data', (text: string) => (answers += text))
  client.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n')
  await eventually(() => answers.includes('HTTP/1.1 200 '))
  client.write('0123456789GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await eventually(() => answers.split('HTTP/1.1 200 ').length === 3)
  client.destroy()
  await running.drain()
})

test('clients that open a connection for each request are answered during a drain, or refused when they connect', async () => {
  const running = await listen(plainServer(), { host: '127.0.0.1', port: 0 })
  const load = askUntilRefused(urlOf(running), 40)
  await eventually(() => load.answered() > 200)
  const before = load.answered()
  await running.drain()
  expect(await load.failures).toEqual([])
  expect(load.answered()).toBeGreaterThan(before)
})

test('an upgraded socket belongs to its listener', async () => {
  const server = slowServer()
  const taken: (() => void)[] = []
  server.on('upgrade', (_incoming, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n')
    taken.push(() => socket.end())
  })
  const running = await listen(server, { host: '127.0.0.1', port: 0 })
  const client = connect(running.port, '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n')
  await once(client, 'data')
  const drained = running.drain()
  await sleep(400)
  expect(client.readyState).toBe('open')
  for (const close of taken) close()
  await drained
  client.destroy()
})

test('without an upgrade listener, an upgrade request is answered like any other and does not delay a drain', async () => {
  const running = await listen(slowServer(), { host: '127.0.0.1', port: 0 })
  const client = connect(running.port, '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n')
  const [answer] = (await once(client.setEncoding('latin1'), 'data')) as [string]
  expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  await running.drain()
  client.destroy()
})

test('a request is answered before the next one with a malformed body', async () => {
  const server = slowServer()
  answerMalformed(server, () => 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
  const running = await listen(server, { host: '127.0.0.1', port: 0 })
  const socket = connect(running.port, '127.0.0.1')
  const malformed = 'POST /slow HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: x\r\n\r\n'
  socket.write(`GET / HTTP/1.1\r\nHost: x\r\n\r\n${malformed}`)
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
  await once(socket, 'close')
  expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\nxHTTP\/1\.1 400 Bad Request\r\n/s)
  await running.drain()
})
