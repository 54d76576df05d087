import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { eventually, withClient } from '@vault-and-tracker/dev-env'
import {
  checkContent,
  checkWindow,
  createVerifyKey,
  parsePublicKey,
  parseSignedRequest,
  verifySignature,
} from '@vault-and-tracker/http-signatures'
import { makeTorrent } from './support/make-torrent.ts'
import { createMember, type TestMember } from './support/members.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

type Received = {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: string[]
  readonly body: string
}

const DAY_MS = 86_400_000

let tracker: TestTracker
let replica: TestTracker
let alice: TestMember
let bob: TestMember
let staff: TestMember['client']
let server: Server
let base: string
let received: Received[] = []
/** The status of a response; 0 for none before the end of the test. */
let statusFor: (path: string, body: string) => number = () => 204
const held: ServerResponse[] = []
/** Long enough for a busy machine. */
const PATIENT = 600_000
const webhookTimes = { timeoutMs: PATIENT }

beforeAll(async () => {
  tracker = await startTracker({ WEBHOOK_ALLOW_PRIVATE: 'true' }, { webhookTimes })
  replica = await tracker.replica()
  await tracker.context.useCases.categories.seed()
  alice = await createMember(tracker, 'alice')
  bob = await createMember(tracker, 'bob')
  staff = await tracker.signedIn('staff', 'admin')
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { url: path = '', headers, rawHeaders } = request
      const body = Buffer.concat(chunks).toString()
      received.push({ path, headers, rawHeaders, body })
      const status = statusFor(path, body)
      if (status > 0) response.writeHead(status, { Location: '/elsewhere' }).end()
      else held.push(response)
    })
  }).listen(0, '127.0.0.1')
  base = `http://127.0.0.1:${String(await new Promise((resolve) => server.once('listening', () => resolve((server.address() as AddressInfo).port))))}`
})
const respond = () => {
  for (const response of held.splice(0)) response.writeHead(204).end()
}
afterEach(async () => {
  await tracker.sql('delete from webhooks')
  respond()
  received = []
  statusFor = () => 204
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await replica.stop()
  await tracker.stop()
})

const add = async (
  owner: TestMember['client'],
  path: string,
  more: Record<string, unknown> = {},
  at = '/api/webhooks',
) => {
  const answer = await owner.post(at, { url: `${base}${path}`, ...more })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.member('id')
}
const upload = async (name: string, fields: Record<string, string> = {}) =>
  (await alice.client.upload(makeTorrent(name), { category: 'tv-hd', ...fields })).member('id')
const to = (path: string) => received.filter((each) => each.path === path)
const listOf = async ({ client }: TestMember) =>
  ((await client.get('/api/webhooks')).json as { items: Record<string, unknown>[] }).items

test('each torrent is sent once, signed, by one of the processes', async () => {
  await add(bob.client, '/hook?secret=1')
  const ids: string[] = []
  for (const name of ['One.2026.720p.WEB', 'Two.2026.720p.WEB', 'Three.2026.720p.WEB'])
    ids.push(await upload(name, { anonymous: String(name.startsWith('Two')) }))
  await eventually(() => received.length >= 3)
  const bodies = received.map(
    ({ body }) => JSON.parse(body) as { id: string; event: string; torrent: Record<string, unknown> },
  )
  expect(bodies.map(({ torrent }) => torrent['id'])).toEqual(ids)
  expect(bodies.map(({ torrent }) => torrent['uploader'])).toEqual(['alice', null, 'alice'])
  expect(new Set(bodies.map(({ id }) => id)).size).toBe(3)
  const { publicKey, signer } = (await tracker.client().get('/api/webhooks/key')).json as Record<string, string>
  const key = createVerifyKey(parsePublicKey(publicKey ?? ''))
  for (const { path, rawHeaders, body } of received) {
    const verified = verifySignature(parseSignedRequest({ method: 'POST', scheme: 'http', target: path, rawHeaders }), [
      key,
    ])
    checkContent(checkWindow(verified, tracker.now()), Buffer.from(body), { required: true })
    expect(verified.claims.project).toBe(signer)
  }
  expect(await listOf(bob)).toMatchObject([
    { url: base, format: 'json', enabled: true, failures: 0, result: 'HTTP 204' },
  ])
  expect(tracker.logged()).not.toContain('secret=1')
})

test('Discord, Slack and ntfy get their own shapes, and no name can mention anyone', async () => {
  for (const format of ['discord', 'slack', 'ntfy']) await add(staff, `/${format}`, { format }, '/api/admin/webhooks')
  const id = await upload('x', { name: '@everyone <!here> & [co](https://example.org)' })
  await eventually(() => received.length >= 3)
  const text = `New torrent: @everyone <!here> & [co](https://example.org) (tv-hd, 0.00 GiB), uploaded by alice`
  const page = `http://tracker.test/torrents/${id}`
  expect(JSON.parse(to('/discord')[0]?.body ?? '')).toEqual({
    content: `New torrent: @everyone \\<!here\\> & \\[co\\]\\(https://example.org\\) \\(tv-hd, 0.00 GiB\\), uploaded by alice\n${page}`,
    allowed_mentions: { parse: [] },
  })
  expect(JSON.parse(to('/slack')[0]?.body ?? '')).toEqual({
    text: `New torrent: @everyone &lt;!here&gt; &amp; [co](https://example.org) (tv-hd, 0.00 GiB), uploaded by alice\n${page}`,
  })
  expect([to('/ntfy')[0]?.body, to('/ntfy')[0]?.headers['x-click']]).toEqual([text, page])
})

test('a webhook with a saved search receives only what matches it', async () => {
  const saved = await bob.client.post('/api/saved-searches', { name: 'Shows', filters: 'search=wanted&alive=true' })
  await add(bob.client, '/filtered', { savedSearch: saved.member('id') })
  await add(bob.client, '/all')
  await upload('Unwanted.2026.720p.WEB')
  await upload('Wanted.2026.720p.WEB')
  await upload('Other.2026.720p.WEB')
  await eventually(() => to('/all').length === 3 && to('/filtered').length === 1)
  expect(to('/filtered')[0]?.body).toContain('Wanted.2026')
  const foreign = await alice.client.post('/api/webhooks', { url: base, savedSearch: saved.member('id') })
  expect(foreign.status).toBe(404)
})

test('a failed attempt is repeated with the same id before the next torrent, and others do not wait for it', async () => {
  await add(bob.client, '/down')
  await add(alice.client, '/up')
  statusFor = (path) => (path === '/down' ? 302 : 204)
  await upload('First.2026.720p.WEB')
  await upload('Second.2026.720p.WEB')
  await eventually(() => to('/up').length === 2 && to('/down').length === 1)
  await eventually(async () => (await listOf(bob))[0]?.['failures'] === 1)
  expect(await listOf(bob)).toMatchObject([{ enabled: true, result: 'HTTP 302' }])
  statusFor = () => 204
  for (const each of [tracker, replica]) each.advance(60_000)
  await eventually(() => to('/down').length === 3)
  const ids = to('/down').map(({ body }) => (JSON.parse(body) as { id: string }).id)
  expect(ids[0]).toBe(ids[1])
  expect(Number(ids[2])).toBeGreaterThan(Number(ids[1]))
  expect(to('/elsewhere')).toEqual([])
  expect(await listOf(bob)).toMatchObject([{ failures: 0, retry: null }])
})

test('a torrent whose content a receiver refuses five times is skipped', async () => {
  await add(bob.client, '/picky')
  statusFor = (_path, body) => (body.includes('Poison') ? 422 : 204)
  await upload('Poison.2026.720p.WEB')
  await upload('Good.2026.720p.WEB')
  for (let failures = 1; failures < 5; failures += 1) {
    await eventually(async () => (await listOf(bob))[0]?.['failures'] === failures)
    for (const each of [tracker, replica]) each.advance(3_600_000)
  }
  await eventually(() => to('/picky').some(({ body }) => body.includes('Good')))
  expect(to('/picky').map(({ body }) => body.includes('Poison'))).toEqual([true, true, true, true, true, false])
  await eventually(async () => (await listOf(bob))[0]?.['failures'] === 0)
})

test('each refused torrent has five attempts, and a receiver that accepts none for a day is disabled', async () => {
  await add(bob.client, '/refusing')
  statusFor = () => 422
  const failsOften = (failures: number) =>
    eventually(async () => (await listOf(bob))[0]?.['failures'] === failures && to('/refusing').length > 0)
  await upload('Refused.2026.720p.WEB')
  for (let failures = 1; failures < 5; failures += 1) {
    await failsOften(failures)
    for (const each of [tracker, replica]) each.advance(3_600_000)
  }
  await failsOften(0)
  expect(await listOf(bob)).toMatchObject([{ enabled: true, retry: null, result: 'HTTP 422, skipped' }])
  expect(to('/refusing')).toHaveLength(5)
  await upload('Next.2026.720p.WEB')
  await failsOften(1)
  for (const each of [tracker, replica]) each.advance(DAY_MS)
  await eventually(async () => (await listOf(bob))[0]?.['enabled'] === false)
})

test('after a day of failures it is disabled with a notice, and continues with new torrents once enabled', async () => {
  const id = await add(bob.client, '/gone')
  statusFor = () => 500
  await upload('Lost.2026.720p.WEB')
  await eventually(async () => (await listOf(bob))[0]?.['failures'] === 1)
  for (const each of [tracker, replica]) each.advance(DAY_MS + 60_000)
  await eventually(async () => (await listOf(bob))[0]?.['enabled'] === false)
  const { items } = (await bob.client.get('/api/notices')).json as { items: { kind: string }[] }
  expect(items.map(({ kind }) => kind)).toContain('webhook')
  statusFor = () => 204
  received = []
  expect((await bob.client.patch(`/api/webhooks/${id}`, { enabled: true })).status).toBe(204)
  await upload('Found.2026.720p.WEB')
  await eventually(() => received.length > 0)
  expect(received.map(({ body }) => body.includes('Found'))).toEqual([true])
})

test('receivers that respond slowly do not delay others, even before they are known to be slow', async () => {
  statusFor = (path) => (path === '/slow' ? 0 : 204)
  // More than the processes have slots.
  await tracker.sql(
    `with owners as (
       insert into users (id, username, email, password_hash, passkey, created_at)
       select gen_random_uuid(), 'slow-' || n, 'slow-' || n, '', lpad(n::text, 40, '0'), now() from generate_series(1, 12) as n
       returning id)
     insert into webhooks (id, user_id, url, format, enabled, created_at, position)
     select gen_random_uuid(), owners.id, $1, 'json', true, now(), (select coalesce(max(id), 0) from events)
     from owners, generate_series(1, 5)`,
    [`${base}/slow`],
  )
  await add(alice.client, '/quick')
  const arrives = async (name: string) => {
    await upload(`${name}.2026.720p.WEB`)
    await eventually(() => to('/quick').at(-1)?.body.includes(name) === true)
  }
  await tracker.sql("update webhooks set response_ms = 9000 where url like '%/slow' and id::text > '8'")
  for (const name of ['Soon', 'At.Once', 'Also']) await arrives(name)
  expect(await tracker.sql(`select url from webhooks where attempted_at is not null and url like '%/slow'`)).toEqual([])
})

test('a receiver that accepts a request and never responds fails with a timeout, and delays no other', async () => {
  statusFor = (path) => (path === '/hanging' ? 0 : 204)
  await add(bob.client, '/hanging')
  await add(alice.client, '/up')
  webhookTimes.timeoutMs = 500
  try {
    await upload('Hanging.2026.720p.WEB')
    await eventually(async () => (await listOf(bob))[0]?.['failures'] === 1)
  } finally {
    webhookTimes.timeoutMs = PATIENT
  }
  expect(await listOf(bob)).toMatchObject([{ enabled: true, result: 'timeout', retry: expect.any(String) }])
  await eventually(() => to('/up').length === 1)
})

test('a change of a webhook does not resend the torrent in progress or reset the failures of its receiver', async () => {
  statusFor = (path) => (path === '/changed' ? 0 : 204)
  const id = await add(bob.client, '/changed')
  await add(alice.client, '/other')
  await upload('Underway.2026.720p.WEB')
  await eventually(() => to('/changed').length === 1)
  for (const changes of [{}, { enabled: true }, { format: 'json', url: `${base}/changed`, savedSearch: null }])
    expect((await bob.client.patch(`/api/webhooks/${id}`, changes)).status).toBe(204)
  for (const name of ['Later', 'Last']) {
    await upload(`${name}.2026.720p.WEB`)
    await eventually(() => to('/other').at(-1)?.body.includes(name) === true)
  }
  statusFor = () => 500
  respond()
  await eventually(async () => (await listOf(bob))[0]?.['failures'] === 1)
  expect(to('/changed').map(({ body }) => /Underway|Later/.exec(body)?.[0])).toEqual(['Underway', 'Later'])
  const [before] = await listOf(bob)
  await bob.client.patch(`/api/webhooks/${id}`, { enabled: true, savedSearch: null })
  expect(await listOf(bob)).toEqual([before])
  statusFor = () => 204
  await bob.client.patch(`/api/webhooks/${id}`, { url: `${base}/moved` })
  expect(await listOf(bob)).toMatchObject([{ failures: 0, retry: null }])
  await eventually(() => to('/moved').length === 2)
})

test('a webhook that is changed or disabled during an attempt stays so, whatever the attempt results in', async () => {
  statusFor = (path) => (path.startsWith('/before') ? 0 : 204)
  const moved = await add(bob.client, '/before')
  const disabled = await add(alice.client, '/before-disabled')
  await upload('During.2026.720p.WEB')
  await eventually(() => to('/before').length === 1 && to('/before-disabled').length === 1)
  await bob.client.patch(`/api/webhooks/${moved}`, { url: `${base}/after` })
  await alice.client.patch(`/api/webhooks/${disabled}`, { enabled: false })
  for (const response of held.splice(0)) response.writeHead(500).end()
  await eventually(() => to('/after').length === 1)
  await eventually(async () => (await listOf(alice))[0]?.['failures'] === 1)
  expect([await listOf(bob), await listOf(alice)]).toMatchObject([[{ failures: 0 }], [{ enabled: false }]])
})

test('a member whose searches are refused still receives what matches a saved search', async () => {
  const saved = await bob.client.post('/api/saved-searches', { name: 'TV', filters: 'category=tv-hd' })
  const torrent = await upload('Matching.2026.720p.WEB')
  await add(bob.client, '/matched', { savedSearch: saved.member('id') })
  await withClient(tracker.database.adminUrl, async (client) => {
    await client.query('begin')
    // Only searches for words wait for it.
    await client.query('lock table search_words')
    const list = { state: 'approved', sort: 'created', order: 'desc', page: 1, limit: 1 } as const
    const searches = [tracker, replica].flatMap(({ context }) =>
      Array.from({ length: 60 }, (_, i) =>
        context.useCases.search.list({ ...list, search: `word${String(i)}` }, bob.id),
      ),
    )
    for (const { context } of [tracker, replica])
      await expect(context.useCases.search.list({ ...list, search: 'other' }, bob.id)).rejects.toMatchObject({
        code: 'RATE_LIMITED',
      })
    await tracker.sql('insert into events (torrent_id, created_at) values ($1, now())', [torrent])
    await eventually(() => to('/matched').length === 1)
    await client.query('commit')
    await Promise.all(searches)
  })
})

test('a killed process loses nothing: its lease ends, and another one continues', async () => {
  const id = await add(bob.client, '/leased')
  await tracker.sql('update webhooks set lease = id, leased_until = $1 where id = $2', [
    new Date(tracker.now() + 60_000),
    id,
  ])
  await upload('Leased.2026.720p.WEB')
  await add(alice.client, '/after')
  await upload('Next.2026.720p.WEB')
  await eventually(() => to('/after').length === 1)
  expect(to('/leased')).toEqual([])
  for (const each of [tracker, replica]) each.advance(61_000)
  await eventually(() => to('/leased').length === 2)
})

test('a banned member, and a deleted webhook, receive nothing', async () => {
  const eve = await createMember(tracker, 'eve')
  await add(eve.client, '/banned')
  await alice.client.delete(`/api/webhooks/${await add(alice.client, '/deleted')}`)
  await add(bob.client, '/active')
  await staff.patch(`/api/admin/users/${eve.id}`, { state: 'banned', reason: 'spam' })
  await upload('Quiet.2026.720p.WEB')
  await eventually(() => to('/active').length === 1)
  expect(received.map(({ path }) => path)).toEqual(['/active'])
})

test('owners have a bound, see only their own, and administrators manage those of the site', async () => {
  const ids: string[] = []
  for (let n = 0; n < 5; n++) ids.push(await add(bob.client, `/${String(n)}`))
  expect((await bob.client.post('/api/webhooks', { url: base })).status).toBe(409)
  for (const client of [alice.client, staff]) {
    expect((await client.patch(`/api/webhooks/${ids[0] ?? ''}`, { enabled: false })).status).toBe(404)
    expect((await client.post(`/api/webhooks/${ids[0] ?? ''}/test`)).status).toBe(404)
    expect((await client.delete(`/api/webhooks/${ids[0] ?? ''}`)).status).toBe(404)
  }
  expect((await staff.delete(`/api/admin/webhooks/${ids[0] ?? ''}`)).status).toBe(404)
  const site = await add(staff, '/site?key=1', {}, '/api/admin/webhooks')
  expect((await staff.post(`/api/admin/webhooks/${site}/test`)).json).toEqual({ result: 'HTTP 204' })
  expect(JSON.parse(to('/site?key=1')[0]?.body ?? '')).toEqual({ event: 'webhook.test' })
  await staff.delete(`/api/admin/webhooks/${site}`)
  const log = (await staff.get('/api/admin/log')).text
  expect(log).toContain('webhook.remove')
  expect(log).not.toContain('key=1')
})

test.each([
  ...['http://example.org/', 'https://127.0.0.1/', 'https://[::1]/', 'https://localhost/', 'https://10.0.0.1/'],
  ...['https://user:password@example.org/', 'ftp://example.org/', 'x', `https://example.org/${'x'.repeat(2_000)}`],
])('without WEBHOOK_ALLOW_PRIVATE, %.40s is refused', async (url) => {
  strict ??= await tracker.replica({ WEBHOOK_ALLOW_PRIVATE: 'false' })
  const client = strict.client()
  client.cookie = bob.client.cookie
  expect((await client.post('/api/webhooks', { url })).member('error', 'message')).toMatch(/^url: /)
})
let strict: TestTracker | undefined
afterAll(() => strict?.stop())
