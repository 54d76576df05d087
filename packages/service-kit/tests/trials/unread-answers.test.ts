import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import { listen, type RunningServer } from '../../src/http/server.ts'
import {
  createUnreadAnswers,
  endInChunks,
  type UnreadAnswers,
  type UnreadLimits,
} from '../../src/http/unread-answers.ts'

// More than the buffers of both ends of a connection take.
const LARGE = 24 * 1024 * 1024
const LIMITS: UnreadLimits = {
  graceMs: 400,
  minBytesPerSecond: LARGE,
  maxBytesPerConnection: 1024 ** 3,
  maxBytes: 1024 ** 3,
  sweepMs: 20,
}

let server: Server
let running: RunningServer | undefined
let opened: Socket[]
let unread: UnreadAnswers

afterEach(async () => {
  for (const socket of opened) socket.destroy()
  await running?.drain()
})

/** A server whose answers have the number of bytes in the path, for the owner in a header. */
async function start(limits: Partial<UnreadLimits> = {}): Promise<number> {
  opened = []
  unread = createUnreadAnswers({ ...LIMITS, ...limits })
  server = createServer((request, response) => {
    const { owner, pieces } = request.headers
    if (typeof owner === 'string') unread.own(response, owner)
    const bytes = Buffer.alloc(Number(request.url?.slice(1)))
    if (pieces === undefined) response.end(bytes)
    else endInChunks(response, bytes)
  })
  running = await listen(server, { host: '127.0.0.1', port: 0 }, { unread })
  return running.port
}

/** Sends requests and reads nothing. */
function ask(port: number, ...sizes: readonly number[]): Promise<Socket> {
  return askFrom('127.0.0.1', port, ...sizes)
}

async function askFrom(localAddress: string, port: number, ...sizes: readonly number[]): Promise<Socket> {
  const socket = await open(port, localAddress)
  socket.write(sizes.map((size) => `GET /${String(size)} HTTP/1.1\r\nHost: test\r\n\r\n`).join(''))
  return socket
}

/** Requests an answer for a new owner, whole or in pieces. */
async function askAs(owner: string, port: number, form: 'whole' | 'pieces' = 'whole'): Promise<Socket> {
  const socket = await open(port)
  const pieces = form === 'pieces' ? 'Pieces: yes\r\n' : ''
  socket.write(`GET /${String(LARGE)} HTTP/1.1\r\nHost: test\r\nOwner: ${owner}\r\n${pieces}\r\n`)
  return socket
}

async function open(port: number, localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  socket.pause()
  socket.on('error', () => undefined)
  opened.push(socket)
  await once(socket, 'connect')
  return socket
}

/** Reads until the server closes or the expected number of bytes has arrived. */
async function readAll(socket: Socket, expected: number): Promise<number> {
  let bytes = 0
  socket.on('data', (chunk: Buffer) => (bytes += chunk.length))
  socket.resume()
  await eventually(() => bytes >= expected || socket.destroyed)
  return bytes
}

function connections(): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
  })
}

test('an unread response is dropped with its connection', async () => {
  const port = await start()
  const silent = await ask(port, LARGE)
  await eventually(async () => (await connections()) === 0)
  expect(await readAll(silent, LARGE)).toBeLessThan(LARGE)
})

test('a response that is read slowly but steadily arrives completely', async () => {
  const port = await start({ graceMs: 1_000, minBytesPerSecond: LARGE / 20 })
  const slow = await ask(port, LARGE)
  let bytes = 0
  while (bytes < LARGE) {
    await sleep(5)
    const chunk = slow.read() as Buffer | null
    expect(slow.destroyed).toBe(false)
    bytes += chunk?.length ?? 0
  }
  expect(bytes).toBeGreaterThan(LARGE)
})

test('a response that is read in tiny amounts is dropped after its time', async () => {
  const port = await start()
  const dripping = await ask(port, LARGE)
  let read = 0
  const timer = setInterval(() => {
    dripping.resume()
    dripping.once('data', (chunk: Buffer) => {
      read += chunk.length
      dripping.pause()
    })
  }, 50)
  await eventually(async () => (await connections()) === 0)
  clearInterval(timer)
  expect(read).toBeLessThan(LARGE)
})

test('beyond the budget, the connection that has waited longest is dropped, and the newest is answered', async () => {
  const port = await start({ graceMs: 60_000, maxBytes: 2.5 * LARGE })
  const first = await ask(port, LARGE)
  await eventually(async () => (await connections()) === 1)
  await sleep(50)
  await ask(port, LARGE)
  await sleep(50)
  expect(await connections()).toBe(2)
  const third = await ask(port, LARGE)
  const fourth = await ask(port, LARGE)
  await eventually(async () => (await connections()) < 4)
  expect(await readAll(first, LARGE)).toBeLessThan(LARGE)
  expect(await readAll(fourth, LARGE)).toBeGreaterThan(LARGE)
  third.destroy()
})

test('beyond the budget, an address that uses less of it keeps its answers', async () => {
  const port = await start({ graceMs: 60_000, maxBytes: 2.5 * LARGE })
  const reader = await askFrom('127.0.0.2', port, LARGE)
  await eventually(async () => (await connections()) === 1)
  await sleep(50)
  for (let i = 0; i < 8; i++) await ask(port, LARGE)
  await eventually(async () => (await connections()) < 5)
  expect(await readAll(reader, LARGE)).toBeGreaterThan(LARGE)
})

test('beyond the budget, an owner that uses less of it keeps its answers, from any address', async () => {
  const port = await start({ graceMs: 60_000, maxBytes: 2.5 * LARGE })
  const reader = await ask(port, LARGE)
  await eventually(async () => (await connections()) === 1)
  await sleep(50)
  for (let i = 0; i < 8; i++) await askAs('greedy', port)
  await eventually(async () => (await connections()) < 5)
  expect(await readAll(reader, LARGE)).toBeGreaterThan(LARGE)
})

test('the unread bytes of an owner are reported, chunked responses included, until they are read or the client disconnects', async () => {
  const port = await start({ graceMs: 60_000 })
  for (const end of ['read', 'gone']) {
    const [whole, pieces] = [await askAs('slow', port), await askAs('slow', port, 'pieces')]
    await eventually(() => unread.overdueBytesOf('slow') > 1.5 * LARGE)
    expect(unread.overdueBytesOf('other')).toBe(0)
    for (const socket of [whole, pieces])
      if (end === 'gone') socket.destroy()
      else expect(await readAll(socket, LARGE)).toBeGreaterThan(LARGE)
    await eventually(() => unread.overdueBytesOf('slow') === 0)
  }
})

test('the unread bytes of a chunked response decrease while it is read', async () => {
  const port = await start({ graceMs: 60_000 })
  const socket = await askAs('slow', port, 'pieces')
  await eventually(() => unread.overdueBytesOf('slow') > LARGE / 2)
  const first = unread.overdueBytesOf('slow')
  let bytes = 0
  while (bytes < LARGE / 2) {
    await sleep(1)
    bytes += (socket.read() as Buffer | null)?.length ?? 0
  }
  await eventually(() => unread.overdueBytesOf('slow') < first)
  expect(unread.overdueBytesOf('slow')).toBeGreaterThan(0)
})

test('responses behind an unread one on the same connection count as well', async () => {
  const port = await start({ graceMs: 60_000, maxBytesPerConnection: 3.5 * LARGE })
  await ask(port, LARGE, LARGE, LARGE, LARGE, LARGE)
  await eventually(async () => (await connections()) === 0)
  const reader = await ask(port, LARGE)
  expect(await readAll(reader, LARGE)).toBeGreaterThan(LARGE)
})

test('a connection that has read everything can be idle', async () => {
  const port = await start({ graceMs: 50 })
  const idle = await ask(port, 10, LARGE)
  expect(await readAll(idle, LARGE)).toBeGreaterThan(LARGE)
  await sleep(300)
  expect(idle.destroyed).toBe(false)
  expect(await connections()).toBe(1)
})
