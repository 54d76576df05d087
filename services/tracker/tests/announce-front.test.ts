import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { randomFrom, TRIALS } from '@vault-and-tracker/dev-env'
import { ANNOUNCE, type Both, expectSame as expectSameOf, startTold } from './support/front-and-node.ts'
import { messagesFrom } from './support/http-messages.ts'

// Sends the same bytes to a server with the announce front and to one with node:http alone, and compares the replies.
const CASES = 240 * TRIALS
const SEED = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000)
/** Connections at a time. */
const AT_ONCE = 20

let both: Both

beforeAll(async () => {
  both = { front: await startTold(true), node: await startTold(false) }
})
afterAll(() => Promise.all([both.front.drain(), both.node.drain()]))

function expectSame(...pieces: readonly string[]): Promise<string> {
  return expectSameOf(both, pieces)
}

/** Sends an unusual request alone and after an announce, and asserts that node:http handled it. */
async function expectNodesWay(message: string): Promise<void> {
  for (const before of ['', ANNOUNCE]) {
    const read = both.front.readByNode()
    await expectSame(`${before}${message}`)
    expect(both.front.readByNode()).toBeGreaterThan(read)
  }
}

test('an announce in one piece bypasses node:http, and its reply is the same', async () => {
  const read = both.front.readByNode()
  expect(await expectSame(ANNOUNCE)).toMatch(/^HTTP\/1\.1 200 OK\r\nContent-Type: text\/plain\r\n.*keep-alive/s)
  expect(await expectSame(ANNOUNCE + ANNOUNCE.replace('announce', 'scrape'))).toMatch(/announce\?a=1.*scrape\?a=1/s)
  for (const fields of ['', 'Connection: keep-alive\r\n', 'Connection: close\r\n', 'X-Forwarded-For: 1.2.3.4\r\n'])
    for (const version of ['1.0', '1.1'])
      await expectSame(`GET /announce?limit HTTP/${version}\r\nHost: x\r\n${fields}\r\n`)
  expect(both.front.readByNode()).toBe(read)
})

test('replies do not depend on where requests are split', async () => {
  const post = 'POST /announce HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc'
  for (const message of [ANNOUNCE, ANNOUNCE + post + ANNOUNCE.replace('announce', 'scrape')])
    for (let first = 1; first < message.length; first += AT_ONCE) {
      const cuts = Array.from({ length: Math.min(AT_ONCE, message.length - first) }, (_, i) => first + i)
      await Promise.all(cuts.map((at) => expectSame(message.slice(0, at), message.slice(at))))
    }
  await expectSame(...Array.from(ANNOUNCE))
})

// Request smuggling (RFC 9112 section 11.2 and publications): messages that two readers end at different bytes.
test.each([
  ['a body', 'Content-Length: 5\r\n\r\nGET /announce?smuggled HTTP/1.1\r\nHost: x\r\n'],
  ['an empty body', 'Content-Length: 0\r\n'],
  ['two lengths', 'Content-Length: 0\r\nContent-Length: 44\r\n'],
  ['the same length twice', 'Content-Length: 5\r\nContent-Length: 5\r\n'],
  ['a length with a sign', 'Content-Length: +5\r\n'],
  ['a negative length', 'Content-Length: -1\r\n'],
  ['a length in hexadecimal', 'Content-Length: 0x5\r\n'],
  ['a list of lengths', 'Content-Length: 5, 5\r\n'],
  ['a length too large for any number', 'Content-Length: 18446744073709551617\r\n'],
  ['a space before the colon', 'Content-Length : 5\r\n'],
  ['chunks', 'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /announce?smuggled HTTP/1.1\r\nHost: x\r\n'],
  ['chunks and a length', 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n'],
  ['chunks that are not', 'Transfer-Encoding: xchunked\r\n'],
  ['chunks that are named with a tab', 'Transfer-Encoding:\tchunked\r\n'],
  ['chunks behind another coding', 'Transfer-Encoding: identity, chunked\r\n'],
  ['a name that ends in the next line', 'Transfer-Encoding\r\n : chunked\r\n'],
  ['a folded line', 'X: y\r\n Transfer-Encoding: chunked\r\n'],
  ['a bare LF', 'X: y\nTransfer-Encoding: chunked\r\n'],
  ['a bare CR', 'X: y\rTransfer-Encoding: chunked\r\n'],
  ['a NUL in a value', 'X: y\0\r\n'],
  ['a NUL in a name', 'X\0: y\r\n'],
  ['no name', ': y\r\n'],
  ['no colon', 'X y\r\n'],
  ['a second Host', 'Host: y\r\n'],
  ['two options of a connection', 'Connection: close, keep-alive\r\n'],
  ['an upgrade', 'Connection: upgrade\r\nUpgrade: h2c\r\n'],
  ['a length as option of the connection', 'Connection: content-length\r\n'],
  ['two Connection', 'Connection: close\r\nConnection: keep-alive\r\n'],
  ['the connection of a proxy', 'Proxy-Connection: close\r\n'],
  ['an expectation', 'Expect: 100-continue\r\n'],
  ['Keep-Alive', 'Keep-Alive: timeout=1\r\n'],
  ['trailers', 'TE: trailers\r\n'],
  ['a long field', `X: ${'y'.repeat(20_000)}\r\n`],
  ['many fields', 'X: y\r\n'.repeat(2_100)],
])('node:http handles a request with %s', async (_name, fields) => {
  await expectNodesWay(`GET /announce?b=1 HTTP/1.1\r\nHost: x\r\n${fields}\r\n${ANNOUNCE}`)
  for (const version of ['1.0', '1.2'])
    await expectSame(`GET /announce?b=1 HTTP/${version}\r\nHost: x\r\n${fields}\r\n${ANNOUNCE}`)
})

test.each([
  'GET http://x/announce HTTP/1.1',
  'GET //x/announce HTTP/1.1',
  'GET announce HTTP/1.1',
  'GET * HTTP/1.1',
  'GET /announce?a=\x00 HTTP/1.1',
  'GET /announce?a=\xff HTTP/1.1',
  'GET  /announce HTTP/1.1',
  'GET /announce  HTTP/1.1',
  'GET\t/announce HTTP/1.1',
  'GET /announce HTTP/1.1 ',
  'GET /announce http/1.1',
  'GET /announce HTTP/0.9',
  'GET /announce HTTP/1.1\r',
  'GET /announce',
  'get /announce HTTP/1.1',
  'GET /elsewhere HTTP/1.1',
  'POST /announce HTTP/1.1',
  'HEAD /announce HTTP/1.1',
  'OPTIONS * HTTP/1.1',
  'PRI * HTTP/2.0',
  '\r\nGET /announce HTTP/1.1',
  '\nGET /announce HTTP/1.1',
])('node:http handles the request line %j', async (line) => {
  await expectNodesWay(`${line}\r\nHost: x\r\n\r\n`)
  await expectNodesWay(`${line}\nHost: x\n\n`)
  await expectSame(`${line}\r\nHost: x\r\n\r\n${ANNOUNCE}`)
})

test.each([
  ['without Host', 'GET /announce HTTP/1.1\r\n\r\n'],
  ['of HTTP/1.0 without Host', 'GET /announce HTTP/1.0\r\n\r\n'],
  ['of HTTP/1.0 that keeps the connection', 'GET /announce HTTP/1.0\r\nConnection: keep-alive\r\n\r\n'],
  ['with %00', 'GET /announce?info_hash=%00%ff HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['with a fragment', 'GET /announce?a=1#x HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['longer than is allowed', `GET /announce?${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
  ['as long as the front reads', `GET /announce?${'a'.repeat(8_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
  ['with a value of 4,000 characters that a NUL ends', `GET /announce HTTP/1.1\r\nX: ${'y '.repeat(2_000)}\0\r\n\r\n`],
  ['with a value of one word that a NUL ends', `GET /announce HTTP/1.1\r\nX: ${'y'.repeat(4_000)}\0\r\n\r\n`],
  ['whose last value does not end', `GET /announce HTTP/1.1\r\nHost: x\r\nUser-Agent: ${'y'.repeat(4_000)}`],
  ['with white space around values', 'GET /announce HTTP/1.1\r\nHost: \t \r\nX-Forwarded-For: \t1 \t\r\n\r\n'],
  ['with X-Forwarded-For twice', 'GET /announce HTTP/1.1\r\nHost: x\r\nX-Forwarded-For:\r\nX-Forwarded-For: 2\r\n\r\n'],
  ['with other spaces around values', 'GET /announce HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: \xa01\xa0\r\n\r\n'],
])('a request %s receives the same reply as from node:http', async (_name, message) => {
  await expectSame(message)
  await expectSame(ANNOUNCE + message + ANNOUNCE)
})

test(
  `${String(CASES)} messages made at random are answered as by node:http (seed ${String(SEED)})`,
  async () => {
    const next = messagesFrom(randomFrom(SEED))
    const [byFront, byNode] = [both.front.readByFront(), both.front.readByNode()]
    for (let done = 0; done < CASES; done += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, () => expectSame(...next())))
    expect(both.front.readByFront() - byFront).toBeGreaterThan(CASES / 2)
    expect(both.front.readByNode() - byNode).toBeGreaterThan(CASES / 2)
    expect(both.node.readByFront()).toBe(0)
  },
  30_000 + CASES * 20,
)
