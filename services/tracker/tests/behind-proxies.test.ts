import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request } from 'node:https'
import type { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { eventually, type Proxy, sendThrough, startCaddy, startNginx } from '@vault-and-tracker/dev-env'
import { announceQuery } from './support/announcer.ts'
import { bearer, createToken } from './support/api-tokens.ts'
import { metricOf } from './support/metrics.ts'
import { answerTo, connectSocket, makeOffers, type SocketClient } from './support/socket-client.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

const INFO_HASH = 'c5'.repeat(20)
const HOST = 'tracker.example.org'

describe.each([
  ['nginx', startNginx],
  ['Caddy', startCaddy],
])('behind %s', (_name, start) => {
  let tracker: TestTracker
  let proxy: Proxy

  beforeAll(async () => {
    tracker = await startTracker({
      TRACKER_MODE: 'open',
      ALLOW_PRIVATE_PEERS: 'true',
      TRUSTED_PROXIES: '127.0.0.1',
      WS_SOCKETS_PER_ADDRESS: '2',
    })
    proxy = await start({ tracker: [new URL(tracker.url).host] })
  })
  afterAll(async () => {
    await proxy.stop()
    await tracker.stop()
  })

  /** Checks the certificate, which names another host than the loopback. */
  function tls(localAddress: string) {
    return { secureContext: proxy.trusted, servername: HOST, localAddress }
  }

  function connect(localAddress: string): Promise<SocketClient> {
    return connectSocket(`https://127.0.0.1:${String(proxy.port)}`, undefined, {
      ...tls(localAddress),
      headers: { host: HOST },
    })
  }

  test('an announce over HTTPS has the address that the proxy saw, regardless of headers', async () => {
    const path = `/announce?${announceQuery({ infoHash: INFO_HASH })}`
    const headers = { host: HOST, 'x-forwarded-for': '203.0.113.9' }
    const message = request({ host: '127.0.0.1', port: proxy.port, path, headers, agent: false, ...tls('127.0.0.2') })
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
    const options = {
      host: '127.0.0.1',
      port: proxy.port,
      path: '/api/events',
      headers: { host: HOST, ...bearer(token) },
    }
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

  test('passkeys are not logged, even while the tracker is down', async () => {
    const down = await start({})
    const passkey = randomBytes(20).toString('hex')
    const query = announceQuery({ infoHash: INFO_HASH })
    const paths = [
      `/announce?passkey=${passkey}&${query}`,
      `/announce/${passkey}?${query}`,
      `/${passkey}/announce?${query}`,
      `/api/torznab?t=search&apikey=${passkey}`,
    ]
    const sendAll = async (to: Proxy): Promise<string[]> => {
      const agent = new Agent({ keepAlive: false, secureContext: to.trusted })
      const send = (path: string) => sendThrough(to, agent, { host: HOST, method: 'GET', path })
      return Promise.all(paths.map(send))
    }
    expect(await sendAll(proxy)).toEqual(['200', '200', '200', '401'])
    expect(await sendAll(down)).toEqual(paths.map(() => '502'))
    const logs = proxy.logs() + down.logs()
    await down.stop()
    expect(logs).not.toContain(passkey)
  })
})
