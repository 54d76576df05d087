import { createServer, type Server } from 'node:http'
import { connect as connectTcp } from 'node:net'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import { trustedProxies } from '@vault-and-tracker/service-kit/http/client-address'
import { listen } from '@vault-and-tracker/service-kit/http/server'
import { Connections, type SocketConnection } from '../src/webtorrent/connections.ts'
import { SocketCounts } from '../src/webtorrent/counts.ts'
import { SocketServer } from '../src/webtorrent/server.ws.ts'
import { connectSocket, type SocketClient } from './support/socket-client.ts'

// Connections without a tracker behind them, and with shorter times.

let server: Server
let sockets: SocketServer
let running: { port: number; drain(): Promise<unknown> }
let opened: SocketConnection[]
let closed: SocketConnection[]
const received: string[] = []
/** Bytes of messages that wait to be answered; undefined if each is answered at once. */
let unanswered: number | undefined
const clients: SocketClient[] = []
const ignore = (): void => undefined

async function start(limits: { pingEveryMs?: number; firstRequestWithinMs?: number }): Promise<void> {
  // A connection of the test before may close late.
  const ended = closed
  const connections = new Connections()
  sockets = new SocketServer({
    tracker: {
      connections,
      identify: (passkey) => ({ member: passkey, endsAt: undefined }),
      endExpired: ignore,
      opened: (connection) => {
        connections.add(connection)
        opened.push(connection)
      },
      receive: (connection, frame) => {
        received.push(frame?.toString() ?? '')
        if (unanswered === undefined || frame === undefined) return
        unanswered += frame.length
        connection.waitFor(frame.length)
      },
      closed: (connection) => {
        connections.remove(connection)
        ended.push(connection)
      },
      drain: () => Promise.resolve(true),
    },
    limits: {
      origins: [],
      perAddress: 100,
      messagesPerSecond: 20,
      pingEveryMs: 60_000,
      firstRequestWithinMs: 60_000,
      ...limits,
    },
    counts: new SocketCounts(),
    proxies: trustedProxies([]),
  })
  sockets.attach(server)
  running = await listen(server, { host: '127.0.0.1', port: 0 })
}

beforeEach(() => {
  server = createServer()
  opened = []
  closed = []
  unanswered = undefined
})
afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.terminate()
  await sockets.drain()
  await running.drain()
})

async function connect(options: Parameters<typeof connectSocket>[2] = {}): Promise<SocketClient> {
  const client = await connectSocket(`http://127.0.0.1:${String(running.port)}`, undefined, options)
  clients.push(client)
  return client
}

test('a connection that does not answer a ping ends, and one that does stays', async () => {
  await start({ pingEveryMs: 300 })
  const silent = await connect({ autoPong: false })
  const other = await connect()
  let pings = 0
  other.socket.on('ping', () => (pings += 1))
  await eventually(() => silent.closeCode() !== undefined && pings >= 3)
  expect(other.closeCode()).toBeUndefined()
  expect(closed).toHaveLength(1)
  expect(closed[0]).toBe(opened[0])
})

test('a connection without a valid request closes with 1008, and one with a valid request stays', async () => {
  await start({ firstRequestWithinMs: 300 })
  const [unauthenticated, user, later] = [await connect(), await connect(), await connect()]
  opened[1]?.served()
  unauthenticated.send('anything')
  await eventually(() => unauthenticated.closeCode() === 1008 && later.closeCode() === 1008)
  expect(user.closeCode()).toBeUndefined()
})

test('disconnects a client that does not read, and frees its memory', async () => {
  await start({})
  const client = await connect()
  client.socket.removeAllListeners('message').pause()
  const connection = opened[0]
  const text = 'x'.repeat(60_000)
  let sent = 0
  await eventually(async () => {
    for (let i = 0; i < 20; i++) if (connection?.sendText(text) === true) sent += 1
    await new Promise(setImmediate)
    return closed.length === 1
  })
  expect(connection?.sendText(text)).toBe(false)
  // The kernel's buffers add to the 256 KiB.
  expect(sent * text.length).toBeLessThan(64 * 1024 * 1024)
})

test('messages of one turn arrive in their order, before the close', async () => {
  await start({})
  const client = await connect()
  const texts: string[] = []
  client.socket.removeAllListeners('message')
  client.socket.on('message', (data: Buffer) => texts.push(data.toString('latin1')))
  const lengths = [0, 1, 125, 126, 65_535, 65_536, 70_000]
  for (const length of lengths) opened[0]?.sendText('a'.repeat(length))
  opened[0]?.closeWith(1008, 'enough')
  await eventually(() => client.closeCode() === 1008)
  expect(texts.map((text) => text.length)).toEqual(lengths)
})

test('joins fragments into a message, even if one ends within a character', async () => {
  await start({})
  const { socket } = await connect()
  const bytes = Buffer.from('{"é":"ü😀"}')
  received.length = 0
  for (let i = 0; i < bytes.length; i++)
    socket.send(bytes.subarray(i, i + 1), { binary: false, fin: i === bytes.length - 1 })
  await eventually(() => received.length === 1)
  expect(received).toEqual([bytes.toString()])
})

test('accepts a message of 64 KiB in one or several frames, and closes with 1009 for one byte more', async () => {
  await start({})
  const [whole, inParts] = [await connect(), await connect()]
  const most = Buffer.alloc(65_536, 0x20)
  received.length = 0
  whole.socket.send(most, { binary: false })
  inParts.socket.send(most.subarray(1), { binary: false, fin: false })
  inParts.socket.send(most.subarray(0, 1), { binary: false, fin: true })
  await eventually(() => received.length === 2)
  whole.socket.send(Buffer.alloc(65_537), { binary: false })
  inParts.socket.send(most, { binary: false, fin: false })
  inParts.socket.send(most.subarray(0, 1), { binary: false, fin: true })
  await eventually(() => whole.closeCode() === 1009 && inParts.closeCode() === 1009)
  expect(received).toHaveLength(2)
})

test('a text that is not UTF-8 closes with 1007', async () => {
  await start({})
  const client = await connect()
  client.socket.send(Buffer.from([0x22, 0xff, 0x22]), { binary: false })
  await eventually(() => client.closeCode() === 1007)
})

test('a connection with a refused upgrade ends even if the client never closes it', async () => {
  await start({})
  const count = (): Promise<number> =>
    new Promise((resolve, reject) => {
      server.getConnections((error, connections) => (error ? reject(error) : resolve(connections)))
    })
  const refused = Array.from({ length: 20 }, () => {
    const socket = connectTcp({ port: running.port, host: '127.0.0.1', allowHalfOpen: true })
    socket.on('error', ignore).resume()
    socket.write('GET /elsewhere HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n')
    return socket
  })
  await eventually(() => refused.every((socket) => socket.readableEnded))
  await eventually(async () => (await count()) === 0)
  for (const socket of refused) socket.destroy()
})

test('stops reading from a client with too many unanswered messages', async () => {
  await start({})
  const client = await connect()
  unanswered = 0
  received.length = 0
  for (let i = 0; i < 20; i++) client.socket.send(Buffer.alloc(65_536, 0x20), { binary: false })
  await eventually(() => received.length >= 5)
  await new Promise((resolve) => setTimeout(resolve, 200))
  // Messages that arrived together with the last one are accepted.
  expect(received.length).toBeLessThanOrEqual(7)
  const waiting = unanswered
  unanswered = undefined
  opened[0]?.answered(waiting)
  await eventually(() => received.length === 20)
})

test('accepts a message of 256 fragments, and closes with 1008 for one more', async () => {
  await start({})
  const [most, more] = [await connect(), await connect()]
  received.length = 0
  for (let i = 1; i <= 256; i++) most.socket.send('x', { fin: i === 256 })
  for (let i = 1; i <= 257; i++) more.socket.send('x', { fin: i === 257 })
  await eventually(() => received.length === 1 && more.closeCode() === 1008)
  expect(received).toEqual(['x'.repeat(256)])
})

test('concurrent checks of a connection share one ping', async () => {
  await start({})
  const { socket } = await connect()
  let pings = 0
  socket.on('ping', () => (pings += 1))
  const isAlive = async (): Promise<boolean | undefined> => opened[0]?.isAlive()
  expect(await Promise.all(Array.from({ length: 20 }, isAlive))).toEqual(Array(20).fill(true))
  expect(await isAlive()).toBe(true)
  await eventually(() => pings === 2)
})
