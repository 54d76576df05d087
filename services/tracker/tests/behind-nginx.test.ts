import { once } from 'node:events'
import { request } from 'node:https'
import type { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually, type Nginx, startNginx } from '@vault-and-tracker/dev-env'
import { announceQuery } from './support/announcer.ts'
import { bearer, createToken } from './support/api-tokens.ts'
import { metricOf } from './support/metrics.ts'
import { answerTo, connectSocket, makeOffers, type SocketClient } from './support/socket-client.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

const INFO_HASH = 'c5'.repeat(20)

let tracker: TestTracker
let nginx: Nginx

beforeAll(async () => {
  tracker = await startTracker({
    TRACKER_MODE: 'open',
    ALLOW_PRIVATE_PEERS: 'true',
    TRUSTED_PROXIES: '127.0.0.1',
    WS_SOCKETS_PER_ADDRESS: '2',
  })
  nginx = await startNginx({ tracker: [new URL(tracker.url).host] })
})
afterAll(async () => {
  await nginx.stop()
  await tracker.stop()
})

/** Checks the certificate, which names another host than the loopback. */
function tls(localAddress: string) {
  return { secureContext: nginx.trusted, servername: 'tracker.example.org', localAddress }
}

function connect(localAddress: string): Promise<SocketClient> {
  return connectSocket(`https://127.0.0.1:${String(nginx.port)}`, undefined, tls(localAddress))
}

test('an announce over HTTPS has the address that nginx saw, regardless of headers', async () => {
  const path = `/announce?${announceQuery({ infoHash: INFO_HASH })}`
  const headers = { 'x-forwarded-for': '203.0.113.9' }
  const message = request({ host: '127.0.0.1', port: nginx.port, path, headers, agent: false, ...tls('127.0.0.2') })
  message.end()
  const [response] = (await once(message, 'response')) as [AsyncIterable<Buffer> & { statusCode: number }]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  expect(response.statusCode).toBe(200)
  const external = Buffer.concat([Buffer.from('11:external ip4:'), Buffer.from([127, 0, 0, 2])])
  expect(Buffer.concat(chunks).includes(external)).toBe(true)
})

test('a stream of events is not kept in a buffer', async () => {
  const { token } = await createToken(await tracker.signedIn('listener'), ['read'])
  const options = { host: '127.0.0.1', port: nginx.port, path: '/api/events', headers: bearer(token), agent: false }
  const message = request({ ...options, ...tls('127.0.0.2') })
  message.end()
  const [response] = (await once(message, 'response')) as [Readable & { statusCode: number }]
  const [first] = (await once(response, 'data')) as [Buffer]
  message.destroy()
  expect([response.statusCode, first.toString()]).toEqual([200, expect.stringContaining('id: 0\n')])
  await eventually(async () => (await metricOf(tracker, 'tracker_event_streams')) === 0)
})

test('WebSockets over TLS relay offers and answers, and limit each address', async () => {
  const [a, b, c] = [await connect('127.0.0.2'), await connect('127.0.0.2'), await connect('127.0.0.3')]
  await a.announce(INFO_HASH, { event: 'started' })
  await b.announce(INFO_HASH, { event: 'started', offers: makeOffers(1) })
  await eventually(() => a.offersReceived().length === 1)
  a.send(answerTo(a, a.offersReceived()[0] ?? {}))
  await eventually(() => b.answersReceived().length === 1)
  await expect(connect('127.0.0.2')).rejects.toThrow('429')
  await Promise.all([a, b, c].map((client) => client.close()))
  await eventually(async () => (await metricOf(tracker, 'tracker_websockets')) === 0)
})
