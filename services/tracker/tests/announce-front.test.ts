import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { randomFrom } from '@vault-and-tracker/dev-env'
import { listen, type RunningServer } from '@vault-and-tracker/service-kit/http-server'
import express from 'express'
import type { AnnounceRoutes, Reply, Sender } from '../src/announce/announce.routes.ts'
import { createTrackerServer } from '../src/http/server.ts'

// The same bytes go to a server with the announce front and to one that is node:http alone: the answers are the same.
const CASES = Number(process.env['ANNOUNCE_FRONT_CASES'] ?? 3_000)
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

let front: RunningServer
let node: RunningServer

/** Replies that tell what was understood: at once, in a turn of the event loop, or with a limit. */
function replyTo(target: string, { headers }: Sender): Reply | Promise<Reply> | undefined {
  if (!/^\/(?:announce|scrape)(?:[/?]|$)/.test(target)) return undefined
  const reply = { status: 200, body: Buffer.from(`${target} for ${String(headers['x-forwarded-for'])}`, 'latin1') }
  if (target.includes('limit')) return { ...reply, status: 429, retryAfter: 60 }
  return target.includes('now') ? reply : later(reply)
}

async function later(reply: Reply): Promise<Reply> {
  await turn()
  return reply
}

async function start(hasAnnounceFront: boolean): Promise<RunningServer> {
  const announces: AnnounceRoutes = {
    replyTo,
    answer: (request, response) => {
      const reply = request.method === 'GET' ? replyTo(request.url ?? '', request) : undefined
      if (reply === undefined) return false
      void Promise.resolve(reply).then(({ status, body, retryAfter }) => {
        const headers = [
          'Content-Type',
          'text/plain',
          'Content-Length',
          String(body.length),
          'Cache-Control',
          'no-store',
        ]
        if (retryAfter !== undefined) headers.push('Retry-After', String(retryAfter))
        response.writeHead(status, headers)
        response.end(body.toString('latin1'), 'latin1')
      })
      return true
    },
    answerMalformed: () => undefined,
  }
  const app = express().disable('x-powered-by').disable('etag')
  app.use((request, response) => {
    request.resume()
    request.on('end', () => response.status(404).send(`${request.method} ${request.url}`))
  })
  const { server, front: requestFront } = createTrackerServer(app, { announces, sockets: undefined, hasAnnounceFront })
  return await listen(server, { host: '127.0.0.1', port: 0 }, { front: requestFront })
}

beforeAll(async () => {
  front = await start(true)
  node = await start(false)
})
afterAll(() => Promise.all([front.drain(), node.drain()]))

/** What a server answers to pieces of bytes until it closes the connection, without its dates. */
async function answerOf(server: RunningServer, pieces: readonly string[], pauseMs: number): Promise<string> {
  const socket = connect({ port: server.port, host: '127.0.0.1', noDelay: true })
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.on('error', () => undefined)
  const closed = once(socket, 'close')
  await once(socket, 'connect')
  for (const piece of pieces) {
    socket.write(piece, 'latin1')
    await turn()
  }
  await sleep(pauseMs)
  socket.end()
  await closed
  return Buffer.concat(chunks)
    .toString('latin1')
    .replaceAll(/^Date: .*$/gm, 'Date: -')
}

/**
 * A client that ends its half while an answer is made gets no answer to what is malformed behind it, or gets one, as
 * time has it. So where answers differ, the client waits longer.
 */
async function expectSame(pieces: readonly string[], pauseMs = 1): Promise<string> {
  const [ours, theirs] = await Promise.all([answerOf(front, pieces, pauseMs), answerOf(node, pieces, pauseMs)])
  if (ours === theirs) return ours
  if (pauseMs < 500) return expectSame(pieces, 500)
  throw new Error(`${JSON.stringify(pieces)}\nfront:\n${ours}\nnode:http:\n${theirs}`)
}

const HEAD = 'GET /announce?a=1 HTTP/1.1\r\nHost: x\r\nUser-Agent: client/1.0\r\nAccept-Encoding: gzip\r\n\r\n'

test('a request is answered alike whole and cut in two at every point, with one behind it or not', async () => {
  for (const message of [HEAD, HEAD + HEAD.replace('announce', 'scrape')])
    for (let at = 1; at < message.length; at++) await expectSame([message.slice(0, at), message.slice(at)])
  expect(await expectSame([HEAD])).toMatch(/^HTTP\/1\.1 200 OK\r\nContent-Type: text\/plain\r\n.*keep-alive/s)
})

// RFC 9112 section 11.2, and what was published on request smuggling: messages of which two readers see different ends.
test.each([
  'Content-Length: 5\r\n\r\nGET /announce?smuggled HTTP/1.1\r\nHost: x\r\n',
  'Content-Length: 0\r\nContent-Length: 44\r\n',
  'Content-Length: +5\r\n',
  'Content-Length: 5, 5\r\n',
  'Content-Length : 5\r\n',
  'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /announce?smuggled HTTP/1.1\r\nHost: x\r\n',
  'Transfer-Encoding: xchunked\r\n',
  'Transfer-Encoding:\tchunked\r\n',
  'Transfer-Encoding\r\n : chunked\r\n',
  'X: y\r\n Transfer-Encoding: chunked\r\n',
  'X: y\nTransfer-Encoding: chunked\r\n',
  'X: y\rTransfer-Encoding: chunked\r\n',
  'X: y\0\r\n',
  'X\0: y\r\n',
  ': y\r\n',
  'X y\r\n',
  'Host: y\r\n',
  'Connection: close, keep-alive\r\n',
  'Connection: upgrade\r\nUpgrade: h2c\r\n',
  'Connection: content-length\r\n',
  'Connection: close\r\nConnection: keep-alive\r\n',
  'Proxy-Connection: close\r\n',
  'Expect: 100-continue\r\n',
  'Keep-Alive: timeout=1\r\n',
  `X: ${'y'.repeat(20_000)}\r\n`,
  'X: y\r\n'.repeat(200),
])('a request with %j is answered as by node:http', async (fields) => {
  for (const version of ['1.0', '1.1', '1.2', '2.0', '1.10'])
    await expectSame([`GET /announce?now HTTP/${version}\r\nHost: x\r\n${fields}\r\n${HEAD}`])
})

test.each([
  'GET http://x/announce HTTP/1.1',
  'GET //x/announce HTTP/1.1',
  'GET announce HTTP/1.1',
  'GET * HTTP/1.1',
  'GET /announce?a=\x00 HTTP/1.1',
  'GET /announce?a=\xff HTTP/1.1',
  'GET /announce?a=1#x HTTP/1.1',
  'GET  /announce HTTP/1.1',
  'GET /announce  HTTP/1.1',
  'GET\t/announce HTTP/1.1',
  'GET /announce HTTP/1.1 ',
  'GET /announce http/1.1',
  'GET /announce',
  'get /announce HTTP/1.1',
  'POST /announce HTTP/1.1',
  'HEAD /announce HTTP/1.1',
  '\r\nGET /announce HTTP/1.1',
  `GET /announce?${'a'.repeat(20_000)} HTTP/1.1`,
])('a request line %j is answered as by node:http', async (line) => {
  await expectSame([`${line}\r\nHost: x\r\n\r\n`])
  await expectSame([`${line}\r\nHost: x\r\n\r\n${HEAD}`])
  await expectSame([`${HEAD}${line}\r\nHost: x\r\n\r\n`])
  await expectSame([`${line}\nHost: x\n\n`])
})

test(`${String(CASES)} messages made at random are answered as by node:http (seed ${String(SEED)})`, async () => {
  const random = randomFrom(SEED)
  const below = (n: number): number => Math.floor(random() * n)
  const one = <T>(all: readonly T[]): T => all[below(all.length)] as T
  const field = (): string =>
    `${one(['Host', 'host', 'User-Agent', 'X-Forwarded-For', 'Connection', 'Accept', 'Content-Length', 'TE', 'X-Y'])}` +
    `${one([':', ': ', ':\t', ' : ', ':  '])}` +
    `${one(['x', 'close', 'keep-alive', 'Keep-Alive', '1.2.3.4', '1.2.3.4, 5.6.7.8', '0', '', 'a b', 'a\tb ', '\xe9'])}` +
    `${one(['\r\n', '\r\n', '\r\n', '\r\n', '\n'])}`
  const request = (): string =>
    `${one(['GET', 'GET', 'GET', 'GET', 'HEAD', 'POST'])} ` +
    `${one(['/announce?now', '/announce', '/scrape?now', '/announce?limit', '/other', '/announce/abc?x=%00'])} ` +
    `HTTP/1.${one(['0', '1', '1', '1'])}\r\n${one(['Host: x\r\n', 'Host: x\r\n', 'Host: x\r\n', ''])}` +
    `${Array.from({ length: below(4) }, field).join('')}\r\n`
  const damaged = (text: string): string => {
    const at = below(text.length)
    const byte = String.fromCharCode(below(256))
    return one([
      () => text.slice(0, at),
      () => text.slice(0, at) + text.slice(at + 1),
      () => text.slice(0, at) + byte + text.slice(at + 1),
      () => text.slice(0, at) + byte + text.slice(at),
    ])()
  }
  const pieces = (text: string): string[] => {
    const cuts = Array.from({ length: below(4) }, () => below(text.length)).toSorted((a, b) => a - b)
    return [...cuts, text.length].map((cut, i) => text.slice(cuts[i - 1] ?? 0, cut)).filter((piece) => piece !== '')
  }
  const message = (): string[] => {
    const text = Array.from({ length: 1 + below(3) }, request).join('')
    return pieces(below(3) === 0 ? damaged(text) : text)
  }
  for (let done = 0; done < CASES; done += 20)
    await Promise.all(Array.from({ length: 20 }, () => expectSame(message())))
})
