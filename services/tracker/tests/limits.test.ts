import { afterEach, expect, test } from '@jest/globals'
import { decodeBencode } from '@vault-and-tracker/bencode-tracker/testing'
import { announce, announceQuery, rawGet } from './support/announcer.ts'
import type { Client } from './support/client.ts'
import { makeTorrent } from './support/make-torrent.ts'
import { metricOf } from './support/metrics.ts'
import { binary, connectSocket, type SocketClient } from './support/socket-client.ts'
import { PASSWORD, startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker

afterEach(() => tracker.stop())

test('limits reads per user and reports the limit in headers', async () => {
  tracker = await startTracker({ REST_READ_LIMIT: '3' })
  const one = await tracker.signedIn('one')
  const two = await tracker.signedIn('two')
  const statuses = []
  for (let i = 0; i < 4; i++) statuses.push((await one.get('/api/user/me')).status)
  expect(statuses).toEqual([200, 200, 200, 429])
  const refused = await one.get('/api/torrents')
  expect(refused.json).toEqual({ error: { code: 'RATE_LIMITED', message: expect.any(String) } })
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(refused.headers.get('ratelimit')).toContain('rest-read')
  expect((await two.get('/api/user/me')).status).toBe(200)
})

test('counts users across addresses and sessions, and clients without a session by address', async () => {
  tracker = await startTracker({ REST_READ_LIMIT: '2', TRUSTED_PROXIES: '127.0.0.1' })
  const user = await tracker.signedIn('traveller')
  const read = async (address: string) => (await user.get('/api/user/me', { 'x-forwarded-for': address })).status
  expect([await read('203.0.113.1'), await read('203.0.113.2'), await read('203.0.113.3')]).toEqual([200, 200, 429])
  const visitor = tracker.client()
  const look = async (address: string) => (await visitor.get('/api/categories', { 'x-forwarded-for': address })).status
  expect([await look('2001:db8::1'), await look('2001:db8::2'), await look('2001:db8::3')]).toEqual([200, 200, 429])
  expect(await look('2001:db8:0:1::1')).toBe(200)
})

test('limits writes per user, separately from reads', async () => {
  tracker = await startTracker({ REST_WRITE_LIMIT: '2' })
  const client = await tracker.signedIn('writer')
  const statuses = []
  for (let i = 0; i < 3; i++) statuses.push((await client.patch('/api/user/me', { statsPublic: true })).status)
  expect(statuses).toEqual([200, 200, 429])
  expect((await client.get('/api/user/me')).status).toBe(200)
})

test('limits writes of staff separately from those of members', async () => {
  tracker = await startTracker({ REST_WRITE_LIMIT: '1', REST_STAFF_WRITE_LIMIT: '3' })
  const staff = await tracker.signedIn('busy', 'moderator')
  const statuses = []
  for (let i = 0; i < 4; i++) statuses.push((await staff.patch('/api/user/me', { statsPublic: true })).status)
  expect(statuses).toEqual([200, 200, 200, 429])
})

test('limits sign-ins by address and account, including correct passwords', async () => {
  tracker = await startTracker({ AUTH_LIMIT: '3', TRUSTED_PROXIES: '127.0.0.1' })
  await tracker.context.useCases.accounts.create({
    username: 'target',
    email: 'target@example.org',
    password: PASSWORD,
    role: 'member',
  })
  const attempt = async (username: string, password: string, address: string) => {
    const answer = await tracker
      .client()
      .post('/api/auth/login', { username, password }, { 'x-forwarded-for': address })
    return answer.status
  }
  const attacker = '203.0.113.7'
  for (let i = 0; i < 3; i++) expect(await attempt('Target', 'guess', attacker)).toBe(401)
  expect(await attempt('tARGET', PASSWORD, attacker)).toBe(429)
  // No user can lock out another user.
  expect(await attempt('target', PASSWORD, '203.0.113.8')).toBe(200)
  expect(await attempt('another', 'guess', attacker)).toBe(401)
})

test('allows an address ten times the attempts of an account, with any usernames', async () => {
  tracker = await startTracker({ AUTH_LIMIT: '1' })
  const statuses = []
  for (let i = 0; i < 11; i++)
    statuses.push((await tracker.client().post('/api/auth/login', { username: `name-${i}`, password: 'x' })).status)
  expect(statuses).toEqual([...Array<number>(10).fill(401), 429])
})

test('limits guesses of the current password in a stolen session, and no correct ones', async () => {
  tracker = await startTracker({ AUTH_LIMIT: '2', REGISTRATION: 'open' })
  const client = tracker.client()
  await client.post('/api/auth/register', { username: 'robbed', email: 'robbed@example.org', password: PASSWORD })
  for (const name of ['sonarr', 'radarr', 'prowlarr', 'autobrr']) {
    const created = await client.post('/api/tokens', { name, scopes: ['read'], password: PASSWORD })
    expect([name, created.status]).toEqual([name, 201])
  }
  const statuses = []
  for (let i = 0; i < 3; i++)
    statuses.push((await client.post('/api/user/password', { currentPassword: `${i}`, newPassword: PASSWORD })).status)
  expect(statuses).toEqual([403, 403, 429])
})

test('limits announces without a user by IPv4 address or IPv6 /64', async () => {
  tracker = await startTracker({ TRACKER_MODE: 'open', ANNOUNCE_LIMIT: '3', TRUSTED_PROXIES: '127.0.0.1' })
  tracker.holdClock()
  const statusOf = async (address: string) => {
    const target = `/announce?${announceQuery({ infoHash: 'ab'.repeat(20) })}`
    return (await rawGet(tracker.url, target, { 'x-forwarded-for': address })).status
  }
  const statuses = []
  for (let i = 1; i <= 4; i++) statuses.push(await statusOf(`2a00:0:0:1::${i}`))
  for (let i = 1; i <= 4; i++) statuses.push(await statusOf('1.2.3.4'))
  expect(statuses).toEqual([200, 200, 200, 429, 200, 200, 200, 429])
  expect([await statusOf('2a00:0:0:2::1'), await statusOf('1.2.3.5')]).toEqual([200, 200])
})

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

/** One of three uploads that are sent at once fits into the rest of it. */
const QUOTA = 1_000

async function startWithQuota(): Promise<void> {
  tracker = await startTracker({ UPLOAD_BYTES_PER_DAY: String(QUOTA) })
  tracker.holdClock()
  await tracker.context.useCases.categories.seed()
}

let files = 0
const upload = (client: Client) => client.upload(makeTorrent(`file ${String(++files)}`), { category: 'other' })

async function statusesOf(count: number, send: () => Promise<{ status: number }>): Promise<number[]> {
  const statuses = []
  for (let i = 0; i < count; i++) statuses.push((await send()).status)
  return statuses
}

async function storedBy(username: string): Promise<number> {
  const [row] = await tracker.sql<{ bytes: number }>(
    `select coalesce(sum(length(info)), 0)::int as bytes from torrent_files
      join torrents on torrents.id = torrent_id join users on users.id = uploader_id where username = $1`,
    [username],
  )
  return row?.bytes ?? 0
}

test("a member's daily quota includes deleted and concurrent uploads", async () => {
  await startWithQuota()
  const member = await tracker.signedIn('member')
  const first = await upload(member)
  expect(first.status).toBe(201)
  await member.delete(`/api/torrents/${first.member('id')}`)
  // Another file for each, and no more at once than a member may upload.
  const refused = new Set<string>()
  for (let round = 0; round < 4; round++)
    for (const answer of await Promise.all([upload(member), upload(member), upload(member)]))
      if (answer.status !== 201) refused.add(`${String(answer.status)} ${answer.member('error', 'code')}`)
  expect([...refused]).toEqual(['413 PAYLOAD_TOO_LARGE'])
  const stored = await storedBy('member')
  expect(stored).toBeLessThanOrEqual(QUOTA)
  expect(stored).toBeGreaterThan(QUOTA - 200)
  const other = await tracker.signedIn('other')
  expect((await upload(other)).status).toBe(201)
  tracker.advance(24 * 3_600_000)
  expect((await upload(member)).status).toBe(201)
})

test('failed uploads do not count against the quota, and staff have none', async () => {
  await startWithQuota()
  const [member, staff] = [await tracker.signedIn('repeats'), await tracker.signedIn('staff', 'moderator')]
  const file = makeTorrent('the same')
  const same = () => member.upload(file, { category: 'other' })
  expect(await statusesOf(10, same)).toEqual([201, ...Array<number>(9).fill(409)])
  expect((await upload(member)).status).toBe(201)
  expect(await statusesOf(10, () => upload(staff))).toEqual(Array<number>(10).fill(201))
})
