import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import { describeApi } from '../src/app.ts'
import { OPERATIONS, SCOPES } from '../src/tokens/scopes.ts'
import { bearer, createToken, refusalIn } from './support/api-tokens.ts'
import { createClient } from './support/client.ts'
import { untilHeard } from './support/invalidations.ts'
import { makeTorrent } from './support/make-torrent.ts'
import { createMember, type TestMember } from './support/members.ts'
import { readError, readFeed, setLimits, startTorznabSite, type TorznabSite } from './support/torznab.ts'
import { PASSWORD, type TestTracker } from './support/tracker.ts'

let site: TorznabSite
let replica: TestTracker
let alice: TestMember
let bob: TestMember

beforeAll(async () => {
  site = await startTorznabSite()
  replica = await site.tracker.replica()
  await setLimits(site.tracker)
  alice = await createMember(site.tracker, 'alice')
  bob = await createMember(site.tracker, 'bob')
})
afterAll(async () => {
  await replica.stop()
  await site.tracker.stop()
})

/** A request with a token and no cookie, to another replica. */
const ask = (token: string, path: string, method = 'GET') =>
  createClient(replica.url).send(method, path, { headers: bearer(token) })
const torznab = (query: string) => createClient(replica.url).get(`/api/torznab${query}`)
const create = (member: TestMember, body: Record<string, unknown>) =>
  member.client.post('/api/tokens', { name: 'Tool', scopes: ['read'], password: PASSWORD, ...body })
const tokensOf = async ({ client }: TestMember) =>
  ((await client.get('/api/tokens')).json as { items: Record<string, unknown>[] }).items

describe('the table of scopes', () => {
  /** The operations of the API document, except those of feeds and visitors. */
  const operations = Object.entries(describeApi().paths)
    .flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })))
    .filter(({ operation }) => !['anyone', 'feed', undefined].includes(operation['x-access'] as string))

  test('has every operation of members once, and none of staff or visitors', () => {
    const ofMembers = operations.filter(
      ({ operation }) => !['moderator', 'admin'].includes(String(operation['x-access'])),
    )
    expect(Object.values(OPERATIONS).flat().toSorted()).toEqual(
      ofMembers.map(({ operation }) => operation['operationId']).toSorted(),
    )
  })

  test('opens exactly the documented operations of a token, whatever the role of its owner', async () => {
    const admin = await createMember(site.tracker, 'chief')
    await site.tracker.context.useCases.accounts.change(admin.id, { role: 'admin' })
    const all = await createToken(admin.client, SCOPES)
    const withoutOne = new Map<string, string>()
    for (const scope of SCOPES) {
      const { token } = await createToken(
        admin.client,
        SCOPES.filter((each) => each !== scope),
      )
      withoutOne.set(scope, token)
    }
    const opened: string[] = []
    for (const { path, method, operation } of operations) {
      const name = operation['operationId']
      const url = path.replaceAll(/\{\w+\}/g, 'x')
      const [session, byToken] = operation['security'] as Record<string, string[]>[]
      expect([name, session]).toEqual([name, { session: [] }])
      const [scope] = byToken?.['token'] ?? []
      if (scope === undefined) {
        const refused = refusalIn(await ask(all.token, url, method.toUpperCase()))
        expect([name, ...refused]).toEqual([name, 403, expect.stringMatching(/^API tokens cannot/)])
        continue
      }
      const refused = await ask(withoutOne.get(scope) ?? '', url, method.toUpperCase())
      expect([name, ...refusalIn(refused)]).toEqual([name, 403, expect.stringMatching(`scope ${scope}\\.$`)])
      expect(refused.headers.get('www-authenticate')).toContain(`scope="${scope}"`)
      // A stream has no end.
      const { status, text } = await ask(all.token, url, name === 'streamEvents' ? 'HEAD' : method.toUpperCase())
      expect([name, [401, 403, 500].includes(status)]).toEqual([name, false])
      expect(text).not.toContain(admin.passkey)
      opened.push(scope)
    }
    expect(new Set(opened)).toEqual(new Set(SCOPES.filter((scope) => scope !== 'torznab')))
  })
})

test('a token is created with the password, shown once and stored as a hash', async () => {
  const created = await create(alice, {
    ...{ name: 'Sonarr', scopes: ['download', 'torznab'], addresses: ['192.0.2.0/24', '127.0.0.1'] },
    expires: new Date(site.tracker.now() + 86_400_000).toISOString(),
  })
  const token = created.member('token')
  expect(created.status).toBe(201)
  expect(token).toMatch(/^vtt_[0-9A-Za-z]{49}$/)
  const [listed] = await tokensOf(alice)
  expect(listed).toMatchObject({
    ...{ name: 'Sonarr', scopes: ['torznab', 'download'], addresses: ['192.0.2.0/24', '127.0.0.1'] },
    ...{ lastUsed: null, lastAddress: null, expires: created.member('expires') },
  })
  expect(JSON.stringify(listed)).not.toContain(token)
  expect((await torznab(`?t=search&apikey=${token}`)).status).toBe(200)
  await replica.context.useCases.tokenUses.flush()
  expect(await tokensOf(alice)).toMatchObject([{ lastUsed: expect.any(String), lastAddress: '127.0.0.1' }])
  const [stored] = await site.tracker.sql<{ text: string }>("select string_agg(tokens::text, ',') as text from tokens")
  expect(stored?.text).not.toContain(token)
})

test.each([
  ['a wrong password', { password: 'wrong' }, 403],
  ['no scope', { scopes: [] }, 400],
  ['an unknown scope', { scopes: ['admin'] }, 400],
  ['an expiry in the past', { expires: '2020-01-01T00:00:00Z' }, 400],
  ['a host as address', { addresses: ['example.org'] }, 400],
  ['a mask of a hundred bits', { addresses: ['192.0.2.1/100'] }, 400],
  ['too many addresses', { addresses: Array.from({ length: 21 }, () => '192.0.2.1') }, 400],
  ['an empty name', { name: ' ' }, 400],
  ['a name in use', { name: 'SONARR' }, 409],
])('%s is refused', async (_what, body, status) => {
  expect((await create(alice, body)).status).toBe(status)
})

test('a member has at most 25 tokens, even if created concurrently, not counting feed addresses', async () => {
  expect((await bob.client.post('/api/feed-tokens', { savedSearch: null })).status).toBe(201)
  const answers = await Promise.all(Array.from({ length: 27 }, (_, i) => create(bob, { name: `Tool ${String(i)}` })))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(25)
  expect((await bob.client.get('/api/feed-tokens')).json).toMatchObject({ items: [expect.anything()] })
  for (const { id } of await tokensOf(bob)) await bob.client.delete(`/api/tokens/${String(id)}`)
  expect(await tokensOf(bob)).toEqual([])
})

test('a revoked token stops at once at every replica, and belongs to one member', async () => {
  const { id, token } = await createToken(alice.client, ['read', 'torznab'])
  expect((await ask(token, '/api/torrents')).status).toBe(200)
  expect((await bob.client.delete(`/api/tokens/${id}`)).status).toBe(404)
  expect((await alice.client.delete('/api/tokens/x')).status).toBe(404)
  expect((await alice.client.delete(`/api/tokens/${id}`)).status).toBe(204)
  expect((await ask(token, '/api/torrents')).status).toBe(401)
  expect(readError(await torznab(`?t=search&apikey=${token}`)).code).toBe(100)
})

test('staff revoke a token, which the log records and its member reads', async () => {
  const admin = await site.tracker.signedIn('warden', 'admin')
  const { id, token } = await createToken(bob.client, ['account'], { name: 'Dashboard' })
  const listed = await admin.get(`/api/admin/users/${bob.id}/tokens`)
  expect(listed.json).toMatchObject({ items: [{ id, name: 'Dashboard', scopes: ['account'] }] })
  expect((await bob.client.delete(`/api/admin/tokens/${id}`)).status).toBe(403)
  expect((await admin.delete(`/api/admin/tokens/${id}`)).status).toBe(204)
  expect((await admin.delete(`/api/admin/tokens/${id}`)).status).toBe(404)
  expect((await ask(token, '/api/user/me')).status).toBe(401)
  expect((await admin.get('/api/admin/log?action=user.token.revoke')).json).toMatchObject({
    items: [{ target: { id: bob.id, name: 'bob' }, before: { token: 'Dashboard', scopes: 'account' } }],
  })
  expect((await bob.client.get('/api/notices')).json).toMatchObject({
    items: [{ kind: 'token', details: { name: 'Dashboard' } }],
  })
})

test('a token is used until it expires, and only from its addresses', async () => {
  const expires = new Date(site.tracker.now() + 60_000).toISOString()
  const short = await createToken(alice.client, ['read', 'torznab'], { expires })
  const elsewhere = await createToken(alice.client, ['read', 'torznab'], { addresses: ['2001:db8::/32', '192.0.2.7'] })
  expect((await ask(short.token, '/api/torrents')).status).toBe(200)
  replica.advance(61_000)
  for (const { token } of [short, elsewhere]) {
    expect((await ask(token, '/api/torrents')).status).toBe(401)
    const refused = await torznab(`?t=search&apikey=${token}`)
    expect([refused.status, readError(refused).code]).toEqual([401, 100])
    // Unlike for an unknown token, its holder learns why.
    expect(readError(refused).description).not.toBe(readError(await torznab('?t=search&apikey=unknown')).description)
  }
})

test.each([
  ['no token', 'vtt_'],
  ['a wrong check', `vtt_${'a'.repeat(49)}`],
  ['too long a token', `vtt_${'a'.repeat(5_000)}`],
])('%s is refused by both APIs', async (_what, token) => {
  expect((await ask(token, '/api/torrents')).status).toBe(401)
  expect(readError(await torznab(`?t=search&apikey=${token}`)).code).toBe(100)
})

test('credentials of a proxy are no token, and a token comes before a cookie', async () => {
  const { token } = await createToken(bob.client, ['account'])
  const me = (authorization: string) => alice.client.get('/api/user/me', { authorization })
  expect((await me('Basic YTpi')).json).toMatchObject({ username: 'alice' })
  expect((await me('Bearer eyJhbGciOi')).json).toMatchObject({ username: 'alice' })
  expect((await me(`bearer ${token}`)).json).toMatchObject({ username: 'bob' })
  expect((await me(`Bearer ${token}x`)).status).toBe(401)
})

test('a tool previews, uploads and downloads with a token', async () => {
  const { token } = await createToken(alice.client, ['upload', 'download'])
  const name = 'Carried.Harbour.S01E01.1080p.WEB.x264-GRP'
  const file = makeTorrent(name)
  const send = (path: string) => {
    const body = new FormData()
    body.append('category', 'tv')
    body.append('torrent', new Blob([Uint8Array.from(file)]), 'x.torrent')
    return createClient(replica.url).send('POST', path, { body, headers: bearer(token) })
  }
  expect((await send('/api/torrents/preview')).json).toMatchObject({ name, category: 'tv-hd', verdict: null })
  const uploaded = await send('/api/torrents')
  expect([uploaded.status, uploaded.member('uploader')]).toEqual([201, 'alice'])
  expect((await send('/api/torrents/preview')).json).toMatchObject({ verdict: 'exists' })
  const downloaded = await ask(token, `/api/torrents/${uploaded.member('id')}/download`)
  expect([downloaded.status, downloaded.bytes.includes(alice.passkey)]).toEqual([200, false])
})

test('a token reads its account without the passkey, and neither token nor passkey is logged', async () => {
  const { token } = await createToken(alice.client, SCOPES)
  const me = await ask(token, '/api/user/me')
  expect(me.json).toMatchObject({ username: 'alice', email: 'alice@example.org' })
  expect(me.text).not.toContain(alice.passkey)
  await torznab(`?t=search&q=x${token}&apikey=${token}`)
  await ask(token, `/api/torrents?search=${token}`)
  await ask(token, '/api/user/passkey', 'POST')
  const rows = async () => JSON.stringify(await site.tracker.sql('select * from torznab_requests'))
  await eventually(async () => (await rows()).includes('q=x[redacted]'))
  const written = (await rows()) + replica.logged() + (await replica.client().get('/metrics')).text
  expect(written).not.toContain(token.slice(4, 20))
})

test('a token of staff sees what members see', async () => {
  const moderator = await site.tracker.signedIn('keeper', 'moderator')
  const { token } = await createToken(moderator, ['read', 'torznab', 'download'])
  const hidden = await site.upload('Hidden.Maker.S01E01.1080p.WEB.x264-GRP', { anonymous: 'true' })
  const waiting = await site.upload('Waiting.Harbour.S01E01.1080p.WEB.x264-GRP')
  await site.tracker.sql("update torrents set state = 'pending' where id = $1", [waiting.id])
  const path = (id: string) => `/api/torrents/${id}`
  expect((await moderator.get(path(hidden.id))).json).toMatchObject({ uploader: 'uploader' })
  expect((await ask(token, path(hidden.id))).json).toMatchObject({ uploader: null })
  expect((await moderator.get(path(waiting.id))).status).toBe(200)
  expect((await ask(token, path(waiting.id))).status).toBe(404)
  expect((await ask(token, `${path(waiting.id)}/download`)).status).toBe(404)
  await site.upload('Open.Maker.S01E01.1080p.WEB.x264-GRP')
  const search = await moderator.post('/api/saved-searches', { name: 'By one', filters: 'uploader=uploader' })
  const feed = await moderator.post('/api/feed-tokens', { savedSearch: search.member('id'), category: null })
  const { pathname, search: query } = new URL(feed.member('url'))
  const titles = (await readFeed(await site.tracker.client().get(pathname + query))).items.map(({ title }) => title)
  expect(titles).not.toContain('Hidden.Maker.S01E01.1080p.WEB.x264-GRP')
  expect(titles).toContain('Open.Maker.S01E01.1080p.WEB.x264-GRP')
})

test('a tool uploads with a token', async () => {
  const { token } = await createToken(alice.client, ['upload'])
  const form = new FormData()
  form.append('category', 'tv-hd')
  form.append('torrent', new Blob([Uint8Array.from(makeTorrent('Tool.Made.S01E01.1080p.WEB.x264-GRP'))]), 'a.torrent')
  const uploaded = await createClient(replica.url).send('POST', '/api/torrents', { body: form, headers: bearer(token) })
  expect([uploaded.status, uploaded.json]).toEqual([201, expect.objectContaining({ uploader: 'alice' })])
})

describe('Torznab', () => {
  let infoHash: string

  beforeAll(async () => {
    infoHash = (await site.upload('Keyed.Harbour.S01E01.1080p.WEB.x264-GRP')).infoHash
  })

  test('an answer to a token has links with the token, which download for its member', async () => {
    const { token } = await createToken(alice.client, ['torznab', 'download'])
    const answer = await torznab(`?t=search&q=keyed&apikey=${token}`)
    const [item] = (await readFeed(answer)).items
    expect(item?.enclosure['url']).toBe(`http://tracker.test/api/torznab/download?id=${infoHash}&apikey=${token}`)
    expect(answer.text).not.toContain(alice.passkey)
    const file = await torznab(`/download?id=${infoHash}&apikey=${token}`)
    expect([file.status, file.bytes.includes(alice.passkey)]).toEqual([200, false])
  })

  test('each request needs its scope, which the refusal names', async () => {
    const searching = await createToken(alice.client, ['torznab', 'read'])
    const loading = await createToken(alice.client, ['download'])
    const refused = [
      await torznab(`/download?id=${infoHash}&apikey=${searching.token}`),
      await torznab(`?t=search&apikey=${loading.token}`),
      await torznab(`?t=details&id=${infoHash}&apikey=${loading.token}`),
    ].map((answer) => [answer.status, readError(answer).code, readError(answer).description])
    expect(refused).toEqual([
      [403, 102, expect.stringMatching(/scope download$/)],
      [403, 102, expect.stringMatching(/scope torznab$/)],
      [403, 102, expect.stringMatching(/scope torznab$/)],
    ])
    expect((await torznab(`/download?id=${infoHash}&apikey=${loading.token}`)).status).toBe(200)
    expect((await torznab(`?t=details&id=${infoHash}&apikey=${searching.token}`)).status).toBe(200)
  })

  test('a member keeps their passkey out of it, and back in, at every replica', async () => {
    const { token } = await createToken(alice.client, ['torznab'])
    const statuses = async () =>
      Promise.all([token, alice.passkey].map(async (key) => (await torznab(`?t=search&apikey=${key}`)).status))
    expect(await statuses()).toEqual([200, 200])
    const changed = await alice.client.patch('/api/user/me', { passkeyOpensTorznab: false })
    expect(changed.json).toMatchObject({ passkeyOpensTorznab: false, statsPublic: true })
    await untilHeard(site.tracker.redisClient)
    expect(await statuses()).toEqual([200, 401])
    const announce = await createClient(replica.url).get(
      `/announce?passkey=${alice.passkey}&info_hash=${'%00'.repeat(20)}&peer_id=${'a'.repeat(20)}&port=7000&left=0&uploaded=0&downloaded=0`,
    )
    expect(announce.text).toContain('Unregistered torrent')
    await alice.client.patch('/api/user/me', { passkeyOpensTorznab: true })
    await untilHeard(site.tracker.redisClient)
    expect(await statuses()).toEqual([200, 200])
  })

  test('requests with a token and with the passkey share the limits of their member', async () => {
    await setLimits(site.tracker, { searches: 2 })
    const { token } = await createToken(bob.client, ['torznab'])
    const keys = [token, bob.passkey, token]
    const answers = []
    for (const key of keys) answers.push((await torznab(`?t=search&apikey=${key}`)).status)
    expect(answers).toEqual([200, 200, 429])
    await setLimits(site.tracker)
  })
})

test('an API token reads the feeds of its member, and downloads from them with the scope', async () => {
  await site.upload('Listed.Harbour.S01E01.1080p.WEB.x264-GRP')
  const search = await alice.client.post('/api/saved-searches', { name: 'Listed', filters: 'search=listed' })
  const feed = (token: string, list = `&savedSearch=${search.member('id')}`) =>
    createClient(replica.url).get(`/api/feeds/rss?token=${token}${list}`)
  const both = await createToken(alice.client, ['torznab', 'download'])
  const [item, ...others] = (await readFeed(await feed(both.token))).items
  expect([item?.title, others]).toEqual(['Listed.Harbour.S01E01.1080p.WEB.x264-GRP', []])
  expect((await readFeed(await feed(both.token, ''))).items).toEqual([])
  const withHeader = (token: string) =>
    createClient(replica.url).get(`/api/feeds/rss?savedSearch=${search.member('id')}`, bearer(token))
  expect((await readFeed(await withHeader(both.token))).items).toEqual([item])
  const download = (url: string) => createClient(replica.url).get(url.replace('http://tracker.test', ''))
  expect((await download(item?.link ?? '')).status).toBe(200)
  const reading = await createToken(alice.client, ['torznab'])
  const [unloadable] = (await readFeed(await feed(reading.token))).items
  expect(refusalIn(await download(unloadable?.link ?? ''))).toEqual([403, expect.stringMatching(/scope download\.$/)])
  const foreign = await createToken(bob.client, ['torznab'])
  expect((await feed(foreign.token)).status).toBe(404)
  const { token: unfit } = await createToken(alice.client, ['read'])
  for (const ask of [feed, withHeader])
    expect([(await ask(unfit)).status, (await ask(`${both.token}x`)).status]).toEqual([403, 401])
})

test('a feed whose token begins like an API token works', async () => {
  const text = `vtt_${'a'.repeat(28)}`
  await site.tracker.sql(
    `insert into tokens (id, user_id, hash, purpose, created_at)
     values (gen_random_uuid(), $1, sha256(convert_to($2, 'UTF8')), 'feed', now())`,
    [alice.id, text],
  )
  expect((await createClient(replica.url).get(`/api/feeds/rss?token=${text}`)).status).toBe(200)
})

test('the state of a member counts at once, in the words of their suspension', async () => {
  const carol = await createMember(site.tracker, 'carol')
  const { token } = await createToken(carol.client, ['read', 'torznab'])
  const change = (changes: Record<string, unknown>) =>
    site.tracker.context.useCases.accounts.change(carol.id, changes, undefined, 'Shared an account.')
  const answers = async () => {
    const [rest, xml] = [await ask(token, '/api/torrents'), await torznab(`?t=search&apikey=${token}`)]
    return [...(rest.status === 200 ? [200] : refusalIn(rest)), xml.status === 200 ? 0 : readError(xml).code]
  }
  expect(await answers()).toEqual([200, 0])
  await change({ state: 'suspended' })
  expect(await answers()).toEqual([403, expect.stringContaining('Shared an account.'), 101])
  await change({ state: 'banned' })
  expect(await answers()).toEqual([403, expect.stringContaining('banned'), 100])
  await change({ state: 'active', apiBlocked: true })
  expect(await answers()).toEqual([403, expect.stringContaining('blocked'), 102])
})
