import { afterEach, expect, test } from '@jest/globals'
import { decodeBencode } from '@vault-and-tracker/bencode-tracker/testing'
import { announce, announceQuery, rawGet } from './support/announcer.ts'
import { metricOf } from './support/metrics.ts'
import { binary, connectSocket, type SocketClient } from './support/socket-client.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker

afterEach(() => tracker.stop())

const from = (address: string) => ({ 'x-forwarded-for': address })
const HASH = 'ab'.repeat(20)
const scrapeTarget = `/scrape?info_hash=${'%ab'.repeat(20)}`

const LIMITED = 'Too many scrapes: slow down'

/** The reasons of failures; undefined for a success. */
async function reasonsOf(target: string, address: string, times: number): Promise<readonly unknown[]> {
  const reasons = []
  for (let i = 0; i < times; i++)
    reasons.push((await rawGet(tracker.url, target, from(address))).fields['failure reason'])
  return reasons
}

test('scrapes are limited by address, and by the /64 of an IPv6 one', async () => {
  tracker = await startTracker({ TRACKER_MODE: 'open', SCRAPE_LIMIT: '3', TRUSTED_PROXIES: '127.0.0.1' })
  tracker.holdClock()
  expect(await reasonsOf(scrapeTarget, '1.2.3.4', 4)).toEqual([undefined, undefined, undefined, LIMITED])
  expect(await reasonsOf(scrapeTarget, '1.2.3.5', 1)).toEqual([undefined])
  expect(await reasonsOf(scrapeTarget, '2a00:0:0:1::1', 3)).toEqual([undefined, undefined, undefined])
  expect(await reasonsOf(scrapeTarget, '2a00:0:0:1::2', 1)).toEqual([LIMITED])
  const refused = await rawGet(tracker.url, scrapeTarget, from('1.2.3.4'))
  expect([refused.status, refused.fields['retry in']]).toEqual([200, 1])
  expect(await metricOf(tracker, 'tracker_failures_total{action="scrape",rule="scrape_limit"}')).toBe(3)
  tracker.advance(60_000)
  expect(await reasonsOf(scrapeTarget, '1.2.3.4', 1)).toEqual([undefined])
})

test('limits unknown passkeys by address, and still accepts valid ones from there', async () => {
  tracker = await startTracker({ UNKNOWN_PASSKEY_LIMIT: '3', TRUSTED_PROXIES: '127.0.0.1' })
  tracker.holdClock()
  const member = await tracker.signedIn('member')
  const passkey = (await member.get('/api/user/me')).member('passkey')
  const guess = (n: number) => `/announce?passkey=${String(n).padStart(40, '0')}&${announceQuery({ infoHash: HASH })}`
  const reasons = []
  for (let i = 0; i < 5; i++)
    reasons.push((await rawGet(tracker.url, guess(i), from('1.2.3.4'))).fields['failure reason'])
  const unknown = 'Unknown passkey: download the .torrent file again'
  const limited = 'Too many unknown passkeys from your address'
  expect(reasons).toEqual([unknown, unknown, unknown, limited, limited])
  const scraped = await rawGet(tracker.url, `${scrapeTarget}&passkey=${'f'.repeat(40)}`, from('1.2.3.4'))
  expect([scraped.status, scraped.fields['failure reason']]).toEqual([200, limited])
  expect((await rawGet(tracker.url, guess(9), from('1.2.3.5'))).fields['failure reason']).toBe(unknown)
  const own = `/announce?passkey=${passkey}&${announceQuery({ infoHash: HASH })}`
  expect((await rawGet(tracker.url, own, from('1.2.3.4'))).fields['failure reason']).toBe('Unregistered torrent')
})

test('scrapes and unknown passkeys over sockets count with those over HTTP', async () => {
  tracker = await startTracker({ SCRAPE_LIMIT: '4', UNKNOWN_PASSKEY_LIMIT: '4', TRUSTED_PROXIES: '127.0.0.1' })
  tracker.holdClock()
  const passkey = (await (await tracker.signedIn('member')).get('/api/user/me')).member('passkey')
  const reasonOf = async (client: SocketClient, message: object): Promise<unknown> =>
    (await client.next(() => client.send(message)))['failure reason']
  const scrape = { action: 'scrape', info_hash: binary(HASH) }
  const scraper = await connectSocket(tracker.url, passkey, { headers: from('1.2.3.4') })
  const scraped = [await reasonOf(scraper, scrape), await reasonOf(scraper, scrape)]
  scraped.push(
    ...(await reasonsOf(`${scrapeTarget}&passkey=${passkey}`, '1.2.3.4', 2)),
    await reasonOf(scraper, scrape),
  )
  expect(scraped).toEqual([undefined, undefined, undefined, undefined, LIMITED])
  const guesses = []
  for (let n = 0; n < 3; n++) {
    const guesser = await connectSocket(tracker.url, String(n).padStart(40, '0'), { headers: from('1.2.3.5') })
    const { peerId } = guesser
    const announced = { action: 'announce', info_hash: binary(HASH), peer_id: peerId, numwant: 0, event: 'started' }
    guesses.push(await reasonOf(guesser, announced), await reasonOf(guesser, scrape))
    await guesser.close()
  }
  const [unknown, limited] = [
    'Unknown passkey: download the .torrent file again',
    'Too many unknown passkeys from your address',
  ]
  expect(guesses).toEqual([unknown, unknown, unknown, unknown, limited, limited])
  await scraper.close()
})

/** The info hashes and counts of a full scrape. */
async function fullScrape(): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(`${tracker.url}/scrape`)
  const root = decodeBencode(Buffer.from(await response.arrayBuffer()))
  const files = root.kind === 'dict' ? root.entries.get('files') : undefined
  const found = new Map<string, number>()
  for (const [name, value] of files?.kind === 'dict' ? files.entries : []) {
    const incomplete = value.kind === 'dict' ? value.entries.get('incomplete') : undefined
    found.set(Buffer.from(name, 'latin1').toString('hex'), incomplete?.kind === 'integer' ? incomplete.value : -1)
  }
  return found
}

test('a full scrape returns all torrents with peers, once a minute', async () => {
  tracker = await startTracker({ TRACKER_MODE: 'open', FULL_SCRAPE: 'true', ALLOW_PRIVATE_PEERS: 'true' })
  tracker.holdClock()
  expect(await fullScrape()).toEqual(new Map())
  const hashes = [0, 1, 2].map((n) => `${String(n)}${String(n)}`.repeat(20))
  for (const infoHash of hashes) await announce(tracker.url, undefined, { infoHash, port: 7001 })
  await announce(tracker.url, undefined, { infoHash: hashes[0] ?? '', port: 7002 })
  expect(await fullScrape()).toEqual(new Map())
  tracker.advance(61_000)
  expect(await fullScrape()).toEqual(new Map(hashes.map((infoHash, n) => [infoHash, n === 0 ? 2 : 1])))
  await announce(tracker.url, undefined, { infoHash: hashes[2] ?? '', port: 7001, event: 'stopped' })
  tracker.advance(61_000)
  expect([...(await fullScrape()).keys()]).toEqual(hashes.slice(0, 2))
})

test.each([{ TRACKER_MODE: 'open' }, { TRACKER_MODE: 'private', FULL_SCRAPE: 'true' }])(
  'with %j a full scrape is refused',
  async (env) => {
    tracker = await startTracker(env)
    const member = await tracker.signedIn('member')
    const passkey = (await member.get('/api/user/me')).member('passkey')
    const reply = await rawGet(tracker.url, `/scrape?passkey=${passkey}`)
    expect(reply.fields['failure reason']).toBe('A scrape needs an info_hash')
  },
)
