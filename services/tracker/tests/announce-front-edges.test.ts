import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import {
  createUnreadAnswers,
  UNREAD_LIMITS,
  type UnreadLimits,
} from '@vault-and-tracker/service-kit/http/unread-answers'
import {
  ANNOUNCE,
  LARGE,
  open,
  readToEnd,
  startTold,
  type ToldOptions,
  type ToldServer,
} from './support/front-and-node.ts'

// Every night, the same behaviour of clients runs against node:http alone too, which must react in the same way.
const NODE = ['node:http alone', false] as const
const BOTH = [['the announce front', true] as const, ...(process.env['TRIALS'] === undefined ? [] : [NODE])]
const LARGE_ANNOUNCE = ANNOUNCE.replace('?a', '?large')
const HELD = ANNOUNCE.replace('?a', '?held')
const POST = 'POST /other HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc'

let told: ToldServer
let release: () => void
const sockets: Socket[] = []

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  release()
  await told.drain()
})

async function start(hasFront: boolean, limits: Partial<UnreadLimits> = {}): Promise<void> {
  const options: ToldOptions = {
    unread: createUnreadAnswers({ ...UNREAD_LIMITS, sweepMs: 20, ...limits }),
    until: new Promise((resolve) => (release = resolve)),
  }
  told = await startTold(hasFront, options)
}

/** A connection that has sent bytes. */
async function send(bytes: string): Promise<Socket> {
  const socket = await open(told.port)
  sockets.push(socket)
  socket.write(bytes, 'latin1')
  return socket
}

function arrived(requests: number): Promise<unknown> {
  return eventually(() => told.targets.length === requests)
}

/** The bodies of answers, in order. */
function bodies(answers: string): string[] {
  return answers.split(/HTTP\/1\.1 \d.*?\r\n\r\n/s).slice(1)
}

function connectionsOf({ server }: ToldServer): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  )
}

test.each(BOTH)('%s replies in order, and a POST after an announce waits for it', async (_name, hasFront) => {
  await start(hasFront)
  const answers = readToEnd(await send(HELD + ANNOUNCE + POST + ANNOUNCE.replace('Host', 'Connection: close\r\nHost')))
  await arrived(hasFront ? 1 : 3)
  release()
  const announced = '/announce?a=1 for undefined'
  expect(bodies(await answers)).toEqual(['/announce?held=1 for undefined', announced, 'POST /other', announced])
})

test.each(BOTH)('%s replies to a client that has ended its half', async (_name, hasFront) => {
  await start(hasFront)
  const socket = await send(HELD)
  const answers = readToEnd(socket)
  socket.end()
  await arrived(1)
  release()
  expect(bodies(await answers)).toEqual(['/announce?held=1 for undefined'])
})

test.each(BOTH)('%s survives clients that disconnect during a reply', async (_name, hasFront) => {
  await start(hasFront)
  for (let i = 0; i < 20; i++) {
    const socket = await send(HELD + ANNOUNCE + HELD)
    await eventually(() => told.targets.filter((target) => target.includes('held')).length > i)
    if (i % 2 === 0) socket.resetAndDestroy()
    else socket.destroy()
  }
  release()
  expect(bodies(await readToEnd(await send(ANNOUNCE.replace('1.1', '1.0'))))).toHaveLength(1)
})

test.each(BOTH)('%s closes a connection that does not read its reply in time', async (_name, hasFront) => {
  await start(hasFront, { graceMs: 300, minBytesPerSecond: LARGE })
  const socket = await send(LARGE_ANNOUNCE)
  socket.pause()
  await arrived(1)
  await eventually(() => connectionsOf(told).then((count) => count === 0))
})

test.each(BOTH)('%s closes a connection that reads its reply byte by byte', async (_name, hasFront) => {
  await start(hasFront, { graceMs: 300, minBytesPerSecond: LARGE })
  const socket = await send(LARGE_ANNOUNCE)
  socket.pause()
  const reading = setInterval(() => socket.read(1) as unknown, 5)
  await arrived(1)
  await eventually(() => connectionsOf(told).then((count) => count === 0))
  clearInterval(reading)
})

test.each(BOTH)('%s closes a connection whose unread replies exceed the limit', async (_name, hasFront) => {
  await start(hasFront, { maxBytes: 1.5 * LARGE })
  for (const each of [1, 2]) {
    const socket = await send(LARGE_ANNOUNCE)
    socket.pause()
    await arrived(each)
  }
  await eventually(() => connectionsOf(told).then((count) => count === 1))
})

test('reads only as many of 10,000 pipelined requests as have space for their unread replies', async () => {
  await start(true)
  const socket = await send(LARGE_ANNOUNCE.repeat(10_000))
  socket.pause()
  await arrived(1)
  await sleep(300)
  expect(told.targets).toHaveLength(1)
})

test.each(BOTH)('%s replies to 10,000 pipelined requests if the client reads', async (_name, hasFront) => {
  await start(hasFront)
  const last = ANNOUNCE.replace('Host', 'Connection: close\r\nHost')
  expect(bodies(await readToEnd(await send(ANNOUNCE.repeat(9_999) + last)))).toHaveLength(10_000)
})

test.each(BOTH)('%s closes connections that send a request too slowly, or none', async (_name, hasFront) => {
  await start(hasFront)
  told.server.headersTimeout = 100
  const sent = ['', 'G', ANNOUNCE.slice(0, -1), ANNOUNCE + ANNOUNCE.slice(0, 40)]
  const answers = await Promise.all(sent.map(async (bytes) => readToEnd(await send(bytes))))
  const late = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n'
  expect(answers).toEqual([late, late, late, expect.stringMatching(/^HTTP\/1\.1 200 .*undefinedHTTP\/1\.1 408 /s)])
})

test.each(BOTH)('%s closes idle connections, and none with a pending reply', async (_name, hasFront) => {
  await start(hasFront)
  told.server.keepAliveTimeout = 200
  const [idle, held] = [await send(ANNOUNCE), await send(HELD)]
  const answers = [readToEnd(idle), readToEnd(held)]
  await answers[0]
  await sleep(300)
  release()
  expect(bodies((await answers[1]) ?? '')).toEqual(['/announce?held=1 for undefined'])
})

test.each(BOTH)('a drain of %s ends a batch after the current reply', async (_name, hasFront) => {
  await start(hasFront)
  const answers = readToEnd(await send(HELD + ANNOUNCE.repeat(50)))
  await arrived(hasFront ? 1 : 51)
  const drained = told.drain()
  release()
  expect(await answers).toMatch(
    /^HTTP\/1\.1 200 OK\r\n.*\r\nConnection: close\r\n\r\n\/announce\?held=1 for undefined$/s,
  )
  await drained
})

test.each(BOTH)('a drain of %s ends idle connections, and replies to the others', async (_name, hasFront) => {
  await start(hasFront)
  const [idle, silent, busy] = [await send(ANNOUNCE), await send(''), await send(ANNOUNCE)]
  const answers = [idle, silent, busy].map((socket) => readToEnd(socket))
  await arrived(2)
  const drained = told.drain()
  busy.write(ANNOUNCE)
  await drained
  const [first, nothing, both] = await Promise.all(answers)
  expect([bodies(first ?? ''), nothing, bodies(both ?? '')].map((each) => each?.length)).toEqual([1, 0, 2])
  expect(both).toContain('Connection: close')
})

test.each(BOTH)('%s allows an upgrade after an announce', async (_name, hasFront) => {
  await start(hasFront)
  told.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.end(`HTTP/1.1 101 Switching Protocols\r\n\r\n${String(request.url)} ${head.toString('latin1')}`)
  })
  const upgrade = ANNOUNCE.replace('Host', 'Connection: Upgrade\r\nUpgrade: websocket\r\nHost')
  for (const before of ['', ANNOUNCE, HELD]) {
    const answers = readToEnd(await send(`${before}${upgrade}frame`))
    if (before === HELD) release()
    expect(bodies(await answers).at(-1)).toBe('/announce?a=1 frame')
  }
})

test('the front passes silent connections to node:http', async () => {
  await start(true)
  const socket = await send('')
  await sleep(1_500)
  socket.write(ANNOUNCE)
  await once(socket, 'data')
  expect(told.readByFront()).toBe(0)
})
