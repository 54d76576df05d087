import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Redis } from 'ioredis'
import { createAddressStore } from '../src/addresses/addresses.store.ts'
import { invalidationChannel } from '../src/invalidation/invalidation.ts'
import { announce, announceQuery, rawGet } from './support/announcer.ts'
import { bearer, createToken } from './support/api-tokens.ts'
import type { Client } from './support/client.ts'
import { makeTorrent } from './support/make-torrent.ts'
import { createAnnouncer, createMember, uploadTorrent } from './support/members.ts'
import { PASSWORD, startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let admin: Client

beforeAll(async () => {
  tracker = await startTracker({ TRUSTED_PROXIES: '127.0.0.1' })
  await tracker.context.useCases.categories.seed()
  admin = await tracker.signedIn('the-admin', 'admin')
})

afterAll(() => tracker.stop())

const idOf = async (client: Client) => (await client.get('/api/user/me')).member('id')

test('statistics are complete for the user and staff, totals for others, empty if hidden', async () => {
  const shy = await tracker.signedIn('shy')
  const other = await tracker.signedIn('onlooker')
  const id = await idOf(shy)
  await tracker.sql('update users set uploaded = 3000, downloaded = 2000, uploaded_actual = 1500 where id = $1', [id])
  const upload = await shy.upload(makeTorrent('Counted'), { category: 'other' })
  await tracker.sql(
    `insert into user_torrents (user_id, torrent_id, last_state, seed_seconds, first_seen_at, last_seen_at, completed_at)
     values ($1, $2, 'seeder', 3600, now(), now(), now()),
            ($1, gen_random_uuid(), 'leecher', 0, now(), now(), null),
            ($1, gen_random_uuid(), 'seeder', 60, now(), now() - interval '1 day', null)`,
    [id, upload.member('id')],
  )
  const known = { id, username: 'shy', role: 'member', created: expect.any(String) }
  const everything = {
    ...known,
    uploaded: 3000,
    downloaded: 2000,
    ratio: 1.5,
    uploadedActual: 1500,
    downloadedActual: 0,
    seeding: 1,
    leeching: 1,
    completed: 1,
    seedSeconds: 3660,
    torrents: 1,
  }
  const path = `/api/user/${id}/stats`
  expect((await shy.get(path)).json).toEqual(everything)
  expect((await admin.get(path)).json).toEqual(everything)
  expect((await other.get(path)).json).toEqual({ ...known, uploaded: 3000, downloaded: 2000, ratio: 1.5 })
  expect((await shy.patch('/api/user/me', { statsPublic: false })).json).toMatchObject({ statsPublic: false })
  expect((await other.get(path)).json).toEqual(known)
  expect((await shy.get(path)).json).toEqual(everything)
})

test('the ratio without downloads is null', async () => {
  const fresh = await tracker.signedIn('fresh')
  expect((await fresh.get(`/api/user/${await idOf(fresh)}/stats`)).json).toMatchObject({ ratio: null })
})

test.each(['nonsense', '0190b6a0-0000-7000-8000-000000000000', '%00'])('the user %s is unknown', async (id) => {
  expect((await admin.get(`/api/user/${id}/stats`)).status).toBe(404)
  expect((await admin.patch(`/api/admin/users/${id}`, { state: 'banned' })).status).toBe(404)
  expect((await admin.post(`/api/admin/users/${id}/passkey`)).status).toBe(404)
})

test('a new passkey replaces the old one everywhere', async () => {
  const client = await tracker.signedIn('renewer')
  const before = (await client.get('/api/user/me')).member('passkey')
  const after = await client.post('/api/user/passkey')
  expect(after.status).toBe(200)
  expect(after.member('passkey')).not.toBe(before)
  expect(after.member('announceUrl')).toContain(after.member('passkey'))
  const upload = await client.upload(makeTorrent('Renewed'), { category: 'other' })
  const file = await client.get(`/api/torrents/${upload.member('id')}/download`)
  expect(file.text).toContain(after.member('passkey'))
  expect(file.text).not.toContain(before)
})

test('two concurrent passkey resets leave one valid passkey', async () => {
  const client = await tracker.signedIn('double')
  const answers = await Promise.all([client.post('/api/user/passkey'), client.post('/api/user/passkey')])
  const final = (await client.get('/api/user/me')).member('passkey')
  expect(answers.map((answer) => answer.member('passkey'))).toContain(final)
})

test('administrators can search users by name or address, newest first', async () => {
  for (const name of ['findme-1', 'findme-2']) await tracker.signedIn(name)
  const found = await admin.get('/api/admin/users?search=FINDME&limit=1')
  expect(found.json).toMatchObject({ total: 2, page: 1, limit: 1, items: [{ username: 'findme-2' }] })
  const next = await admin.get('/api/admin/users?search=findme&limit=1&page=2')
  expect(next.json).toMatchObject({
    items: [{ username: 'findme-1', email: 'findme-1@example.org', apiBlocked: false }],
  })
  for (const nothing of ['100%25', '_', '%5C'])
    expect((await admin.get(`/api/admin/users?search=${nothing}`)).json).toMatchObject({ total: 0 })
  expect(found.text).not.toMatch(/passkey|password/)
})

test('administrators can filter users by role and state', async () => {
  for (const name of ['kind-1', 'kind-2']) await tracker.signedIn(name, 'moderator')
  const id = await idOf(await tracker.signedIn('kind-3'))
  await admin.patch(`/api/admin/users/${id}`, { state: 'suspended' })
  const namesFor = async (query: string) =>
    ((await admin.get(`/api/admin/users?search=kind&${query}`)).json as { items: { username: string }[] }).items.map(
      ({ username }) => username,
    )
  expect(await namesFor('role=moderator')).toEqual(['kind-2', 'kind-1'])
  expect(await namesFor('state=suspended')).toEqual(['kind-3'])
  expect(await namesFor('role=moderator&state=suspended')).toEqual([])
  for (const wrong of ['role=king', 'state=asleep'])
    expect((await admin.get(`/api/admin/users?${wrong}`)).status).toBe(400)
})

test('administrators can see a user, their inviter and their invites', async () => {
  const inviter = await tracker.signedIn('inviter', 'moderator')
  const code = (await inviter.post('/api/user/invites')).member('code')
  const guest = tracker.client()
  const body = { username: 'guest', email: 'guest@example.org', password: PASSWORD, invite: code }
  expect((await guest.post('/api/auth/register', body)).status).toBe(201)
  const one = await admin.get(`/api/admin/users/${await idOf(guest)}`)
  const invitedBy = { id: await idOf(inviter), username: 'inviter' }
  expect(one.json).toMatchObject({ username: 'guest', email: 'guest@example.org', state: 'active', invitedBy })
  expect(one.text).not.toMatch(/passkey|password/)
  expect((await admin.get(`/api/admin/users/${invitedBy.id}`)).json).toMatchObject({ invitedBy: null })
  const made = await admin.get(`/api/admin/users/${invitedBy.id}/invites`)
  expect(made.json).toMatchObject({ items: [{ usedBy: 'guest' }] })
  expect(made.text).not.toContain(code)
})

test('administrators can end every session of a user', async () => {
  const client = await tracker.signedIn('elsewhere')
  const path = `/api/admin/users/${await idOf(client)}/sessions`
  const open = await admin.get(path)
  expect(open.json).toMatchObject({ items: [{ address: expect.any(String), userAgent: expect.any(String) }] })
  expect((await admin.delete(path)).status).toBe(204)
  expect((await client.get('/api/user/me')).status).toBe(401)
  expect((await admin.get(path)).json).toEqual({ items: [], page: 1, limit: 25, total: 0, totalIsExact: true })
  const again = await client.post('/api/auth/login', { username: 'elsewhere', password: PASSWORD })
  expect(again.status).toBe(200)
})

test('administrators see from where a user was seen, and who else was seen there', async () => {
  const owner = await createMember(tracker, 'owner')
  const thief = await createMember(tracker, 'thief')
  const { infoHash } = await uploadTorrent(owner, 'Seen.From.Addresses.2026.1080p')
  const from = (address: string) => ({ 'x-forwarded-for': address })
  const { addresses } = tracker.context.useCases
  const listed = async (query: string) => {
    await addresses.flush()
    const { items } = (await admin.get(`/api/admin/addresses?${query}`)).json as {
      items: { user: { username: string }; address: string; kind: string; requests: number; users: number }[]
    }
    return items.map(({ user, address, kind, requests, users }) => [user.username, address, kind, requests, users])
  }
  const { token } = await createToken(owner.client, ['read'])
  await addresses.flush(true)
  await tracker.sql('delete from user_addresses')
  await owner.client.get('/api/user/me', from('198.51.100.7'))
  tracker.advance(1_000)
  // Addresses of one subscriber.
  await owner.client.get('/api/user/me', from('2001:db8:0:7::1'))
  await owner.client.get('/api/user/me', from('2001:db8:0:7:ffff::2'))
  tracker.advance(1_000)
  // A client writes anything in front of the address of the last proxy.
  await owner.client.get(`/api/torznab?t=search&apikey=${owner.passkey}`, from('192.0.2.1, 203.0.113.9'))
  await tracker.client().get('/api/torrents', { ...bearer(token), ...from('203.0.113.9') })
  tracker.advance(1_000)
  await tracker.client().post('/api/auth/login', { username: 'thief', password: PASSWORD }, from('203.0.113.9'))
  tracker.advance(1_000)
  const target = `/announce?passkey=${owner.passkey}&${announceQuery({ infoHash })}`
  expect((await rawGet(tracker.url, target, from('203.0.113.9'))).fields['failure reason']).toBeUndefined()
  await tracker.client().get(`/api/torznab?t=search&apikey=${'0'.repeat(40)}`, from('203.0.113.9'))
  // After the first request, the others are written within an hour.
  tracker.advance(3_600_000)
  expect(await listed('user=OWNER')).toEqual([
    ['owner', '203.0.113.9', 'announce', 1, 2],
    ['owner', '203.0.113.9', 'api', 2, 2],
    ['owner', '2001:db8:0:7::/64', 'web', 2, 1],
    ['owner', '198.51.100.7', 'web', 1, 1],
  ])
  expect(await listed(`user=${thief.id}`)).toEqual([['thief', '203.0.113.9', 'web', 1, 2]])
  expect((await listed('address=203.0.113.9')).map(([username, , kind]) => [username, kind])).toEqual([
    ['owner', 'announce'],
    ['thief', 'web'],
    ['owner', 'api'],
  ])
  for (const address of ['2001:db8:0:7::9', '2001:DB8:0:7::/64'])
    expect(await listed(`address=${encodeURIComponent(address)}`)).toHaveLength(1)
  expect(await listed('address=198.51.100.8')).toEqual([])
  expect(await listed('user=nobody')).toEqual([])
  await tracker.sql("update user_addresses set last_at = last_at - interval '30 days'")
  tracker.advance(10_000)
  await owner.client.get('/api/user/me', from('198.51.100.8'))
  await addresses.flush()
  await addresses.prune()
  expect(await listed(`user=${owner.id}`)).toEqual([['owner', '198.51.100.8', 'web', 1, 1]])
})

test('the addresses of a user are bounded, and the newest stay', async () => {
  const { id } = await createAnnouncer(tracker, 'restless')
  const store = createAddressStore(tracker.db)
  const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute))
  const seen = Array.from({ length: 130 }, (_, i) => ({ address: `192.0.2.${i}`, firstAt: at(i), lastAt: at(i) }))
  const add = (from: number, to: number) =>
    store.add(seen.slice(from, to).map((each) => ({ ...each, userId: id, kind: 'announce', requests: 2 })))
  await Promise.all([add(0, 70), add(60, 130), add(0, 130)])
  await add(129, 130)
  const stored = await tracker.sql<{ address: string; requests: number }>(
    "select address, requests::int from user_addresses where user_id = $1 and kind = 'announce' order by last_at desc",
    [id],
  )
  expect(stored.map(({ address }) => address)).toEqual(
    seen
      .slice(30)
      .map(({ address }) => address)
      .toReversed(),
  )
  expect(stored[0]?.requests).toBe(6)
  await store.prune({ before: new Date(0), rows: 3 })
  expect(await tracker.sql('select 1 from user_addresses')).toHaveLength(3)
})

test.each(['user=', 'address=', 'address=nonsense', 'address=192.0.2.1/24', 'address=%00', 'address=::1/48', ''])(
  'addresses are not listed for %s',
  async (query) => {
    expect((await admin.get(`/api/admin/addresses?${query}`)).status).toBe(400)
  },
)

test.each(['', '/sessions', '/invites', '/warnings', '/notes', '/record'])(
  '/api/admin/users/:id%s returns 404 for an unknown user',
  async (rest) => {
    for (const id of ['nonsense', '0190b6a0-0000-7000-8000-000000000000'])
      expect((await admin.get(`/api/admin/users/${id}${rest}`)).status).toBe(404)
    expect((await admin.delete('/api/admin/users/nonsense/sessions')).status).toBe(404)
  },
)

test("administrators can change a user's permissions with immediate effect", async () => {
  const client = await tracker.signedIn('managed')
  const path = `/api/admin/users/${await idOf(client)}`
  const changed = await admin.patch(path, { role: 'moderator', apiBlocked: true, canDownload: false })
  expect(changed.json).toMatchObject({ role: 'moderator', apiBlocked: true, canDownload: false, state: 'active' })
  const favoured = await admin.patch(path, { downloadPercent: 50, uploadPercent: 200 })
  expect(favoured.json).toMatchObject({ downloadPercent: 50, uploadPercent: 200, role: 'moderator' })
  expect((await client.get('/api/admin/torrents')).status).toBe(200)
  await admin.patch(path, { state: 'banned' })
  expect((await client.get('/api/user/me')).status).toBe(403)
  await admin.patch(path, { state: 'active', role: 'member' })
  expect((await client.get('/api/admin/torrents')).status).toBe(403)
})

test('a suspension shows its reason, and ends by itself everywhere', async () => {
  const client = await tracker.signedIn('paused')
  const me = await client.get('/api/user/me')
  const [id, passkey] = [me.member('id'), me.member('passkey')]
  const path = `/api/admin/users/${id}`
  const infoHash = (await client.upload(makeTorrent('Paused'), { category: 'other' })).member('infoHash')
  const use = async () => [
    (await client.get('/api/user/me')).status,
    (await client.get(`/api/torznab?t=search&apikey=${passkey}`)).status,
    (await announce(tracker.url, passkey, { infoHash })).fields['failure reason'] === undefined,
  ]
  const listed = async (state: string) =>
    (await admin.get(`/api/admin/users?search=paused&state=${state}`)).json as { total: number }
  expect(await use()).toEqual([200, 200, true])

  const until = new Date(tracker.now() + 60_000).toISOString()
  const reason = 'shares an account'
  const suspended = await admin.patch(path, { state: 'suspended', suspendedUntil: until, reason })
  expect(suspended.json).toMatchObject({ state: 'suspended', suspendedUntil: until, stateReason: reason })
  // A later change has its own reason.
  await admin.patch(path, { invitesLeft: 2, reason: 'for staff only' })
  expect(await use()).toEqual([403, 403, false])
  const refused = await tracker.client().post('/api/auth/login', { username: 'paused', password: PASSWORD })
  expect(refused.status).toBe(403)
  for (const shown of [reason, until.slice(0, 10)]) expect(refused.member('error', 'message')).toContain(shown)
  expect(await listed('suspended')).toMatchObject({ total: 1 })

  // Less than the lifetime of a cached user.
  tracker.advance(61_000)
  expect(await use()).toEqual([200, 200, true])
  expect(await listed('suspended')).toMatchObject({ total: 0 })
  expect(await listed('active')).toMatchObject({ total: 1 })
  expect((await admin.get(path)).json).toMatchObject({ state: 'active', suspendedUntil: null, stateReason: null })
  expect((await admin.get(`/api/admin/log?target=${id}`)).json).toMatchObject({
    items: [{ after: { invitesLeft: 2 } }, { after: { state: 'suspended', suspendedUntil: until, reason } }],
  })
})

test('the end of a suspension is in the future, and only suspended users have one', async () => {
  const path = `/api/admin/users/${await idOf(await tracker.signedIn('unpaused'))}`
  const change = async (suspendedUntil: number, state?: string) =>
    (await admin.patch(path, { state, suspendedUntil: new Date(suspendedUntil).toISOString() })).status
  expect(await change(tracker.now() - 1_000, 'suspended')).toBe(400)
  const beyond = await admin.patch(path, { state: 'suspended', suspendedUntil: '9999-12-31T23:59:59-01:00' })
  expect(beyond.status).toBe(400)
  for (const state of [undefined, 'banned']) expect(await change(tracker.now() + 60_000, state)).toBe(409)
  expect((await admin.get(path)).json).toMatchObject({ state: 'active', suspendedUntil: null })
})

test('a warned user receives a notice that cannot be muted, and staff see the warnings', async () => {
  const client = await tracker.signedIn('warned')
  const path = `/api/admin/users/${await idOf(client)}`
  expect((await client.patch('/api/notices/settings', { muted: ['warning'] })).json).toMatchObject({ muted: [] })
  const text = 'Seed what you download.'
  const warning = { text, author: { username: 'the-admin' } }
  const warned = await admin.post(`${path}/warnings`, { text })
  expect([warned.status, warned.json]).toMatchObject([201, warning])
  expect((await client.get('/api/notices?unread=true')).json).toMatchObject({
    items: [{ kind: 'warning', isRead: false, details: { reason: text } }],
  })
  expect((await admin.get(`${path}/warnings`)).json).toMatchObject({ total: 1, items: [warning] })
  expect((await admin.get(path)).json).toMatchObject({ warnings: 1 })
  expect((await admin.get('/api/admin/log?action=user.warn')).json).toMatchObject({ items: [{ after: { text } }] })
  expect((await client.get(`${path}/warnings`)).status).toBe(403)
  expect((await client.post(`${path}/warnings`, { text })).status).toBe(403)
})

test.each([{ role: 'king' }, { state: 'asleep' }, { apiBlocked: 'yes' }, { invitesLeft: -1 }])(
  'the change %j is refused',
  async (change) => {
    const answer = await admin.patch(`/api/admin/users/${await idOf(admin)}`, change)
    expect([answer.status, answer.member('error', 'code')]).toEqual([400, 'BAD_REQUEST'])
  },
)

test('administrators cannot lock themselves out', async () => {
  const path = `/api/admin/users/${await idOf(admin)}`
  for (const change of [{ role: 'member' }, { state: 'suspended' }]) {
    const answer = await admin.patch(path, change)
    expect([answer.status, answer.member('error', 'code')]).toEqual([409, 'CONFLICT'])
  }
})

test('publishes every change that the announce engine may have cached after the commit', async () => {
  const heard: unknown[] = []
  const listener = new Redis(tracker.redisUrl)
  await listener.subscribe(invalidationChannel(listener.options.db ?? 0))
  listener.on('message', (_channel, message) => heard.push(JSON.parse(message)))
  const client = await tracker.signedIn('published')
  const me = await client.get('/api/user/me')
  const old = me.member('passkey')
  const renewed = (await admin.post(`/api/admin/users/${me.member('id')}/passkey`)).status
  const fresh = (await client.get('/api/user/me')).member('passkey')
  await admin.patch(`/api/admin/users/${me.member('id')}`, { canDownload: false })
  const upload = await client.upload(makeTorrent('Published'), { category: 'other' })
  const infoHash = upload.member('infoHash')
  await admin.post(`/api/admin/torrents/${upload.member('id')}/reject`, { reason: 'no' })
  await admin.post(`/api/admin/torrents/${upload.member('id')}/approve`)
  await admin.delete(`/api/torrents/${upload.member('id')}`)
  await admin.patch('/api/admin/site', { downloadPercent: 0 })
  // One connection delivers in order: once this arrives, everything before it has.
  await tracker.redisClient.publish(invalidationChannel(tracker.redisClient.options.db ?? 0), '"done"')
  while (heard.at(-1) !== 'done') await new Promise((resolve) => setTimeout(resolve, 5))
  listener.disconnect()
  expect(renewed).toBe(200)
  expect(heard).toEqual([
    { kind: 'user', passkey: old },
    { kind: 'user', passkey: old },
    { kind: 'user', passkey: fresh },
    { kind: 'expelled', userId: me.member('id') },
    { kind: 'user', passkey: fresh },
    { kind: 'torrent', infoHash },
    { kind: 'torrent', infoHash },
    { kind: 'torrent', infoHash },
    { kind: 'torrent', infoHash },
    { kind: 'site-settings' },
    'done',
  ])
})

test('site-wide freeleech', async () => {
  expect((await admin.patch('/api/admin/site', { downloadPercent: 0, uploadPercent: 200 })).json).toMatchObject({
    downloadPercent: 0,
    uploadPercent: 200,
  })
  expect((await admin.get('/api/admin/site')).json).toMatchObject({ downloadPercent: 0, uploadPercent: 200 })
  expect((await admin.patch('/api/admin/site', { uploadPercent: 100 })).json).toMatchObject({ downloadPercent: 0 })
  expect((await admin.patch('/api/admin/site', { uploadPercent: 99 })).status).toBe(400)
})

test('no password, passkey, token or invite ever reaches the log', async () => {
  const client = await tracker.signedIn('leaky')
  const me = await client.get('/api/user/me')
  const invite = (await admin.post('/api/user/invites')).member('code')
  const secrets = [PASSWORD, 'a wrong password', me.member('passkey'), client.cookie ?? '', invite, 'leaky@example.org']
  await client.post('/api/auth/login', { username: 'leaky', password: 'a wrong password' })
  await client.post('/api/auth/register', { username: 'x', email: 'leaky@example.org', password: PASSWORD, invite })
  await client.get(`/api/torrents?passkey=${me.member('passkey')}&limit=0`)
  await client.get(`/announce/${me.member('passkey')}`)
  // A fault of ours, so that something is logged at all: the row breaks a constraint.
  await tracker.sql("alter table users add constraint broken check (email <> 'boom@example.org')")
  const failed = await client.post('/api/auth/register', {
    username: 'boom',
    email: 'boom@example.org',
    password: PASSWORD,
    invite: (await admin.post('/api/user/invites')).member('code'),
  })
  expect([failed.status, failed.json]).toEqual([
    500,
    { error: { code: 'INTERNAL_ERROR', message: 'Something went wrong on our side.' } },
  ])
  expect(tracker.logged()).toContain('request failed')
  for (const secret of [...secrets, 'boom@example.org']) expect(tracker.logged()).not.toContain(secret)
})
