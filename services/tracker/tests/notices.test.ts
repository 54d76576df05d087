import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { notify } from '../src/notices/notices.store.ts'
import { MAX_NOTICES, NOTICE_KINDS } from '../src/notices/notices.ts'
import type { Client } from './support/client.ts'
import { makeTorrent } from './support/make-torrent.ts'
import { createMember, type TestMember, uploadTorrent } from './support/members.ts'
import { PASSWORD, startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let staff: Client
let admin: Client

const NOON = Date.UTC(2027, 5, 15, 12)
const HOUR = 3_600_000

beforeAll(async () => {
  tracker = await startTracker({ UPLOAD_APPROVAL: 'manual' })
  tracker.holdClock(NOON)
  await tracker.context.useCases.categories.seed()
  staff = await tracker.signedIn('moderator', 'moderator')
  admin = await tracker.signedIn('administrator', 'admin')
})
afterAll(() => tracker.stop())

type Item = { id: string; kind: string; created: string; isRead: boolean; times: number }
const listOf = async (client: Client, query = ''): Promise<readonly Item[]> =>
  ((await client.get(`/api/notices${query}`)).json as { items: readonly Item[] }).items
const unreadOf = async (client: Client): Promise<unknown> => (await client.get('/api/notices/unread')).json
const exactly = (total: number) => ({ total, totalIsExact: true })
const approve = (id: string) => staff.post(`/api/admin/torrents/${id}/approve`)

/** Sends notices of one kind, each a second after the one before. */
async function sendMany(to: TestMember, count: number, topic?: string): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    tracker.advance(1_000)
    const notice = { to: to.id, kind: 'search', details: { search: { id: 's', name: `Search ${i}` } } } as const
    const by = { actorId: 'someone-else', at: new Date(tracker.now()) }
    await tracker.db
      .transaction()
      .execute((trx) => notify(trx, by, [topic === undefined ? notice : { ...notice, topic }]))
  }
}

test('an uploader is notified of what staff do with a torrent, newest first', async () => {
  const uploader = await createMember(tracker, 'uploader')
  const { id } = await uploadTorrent(uploader, 'Moderated')
  expect(await listOf(uploader.client)).toEqual([])
  const act = async (action: () => Promise<{ status: number }>): Promise<void> => {
    tracker.advance(1_000)
    expect((await action()).status).toBeLessThan(300)
  }
  await act(() => staff.post(`/api/admin/torrents/${id}/reject`, { reason: 'Wrong category' }))
  await act(() => staff.patch(`/api/torrents/${id}`, { category: 'movies', description: 'Better' }))
  await act(() => approve(id))
  await act(() => approve(id))
  await act(() => uploader.client.patch(`/api/torrents/${id}`, { description: 'Mine' }))
  await act(() => staff.patch(`/api/torrents/${id}`, { downloadPercent: 50 }))
  await act(() => staff.patch(`/api/torrents/${id}`, { downloadPercent: 0 }))
  const torrent = { id, name: 'Moderated' }
  const rest = { torrent, isRead: false, times: 1 }
  expect(await listOf(uploader.client)).toMatchObject([
    // The unread notice of the earlier rate was replaced.
    { ...rest, kind: 'rates', times: 2, details: { downloadPercent: 0, uploadPercent: 100 } },
    { ...rest, kind: 'approval', details: {} },
    { ...rest, kind: 'edit', details: { fields: ['category', 'description'] } },
    { ...rest, kind: 'rejection', details: { reason: 'Wrong category' } },
  ])
  expect(await listOf(staff)).toEqual([])
  await act(() => staff.delete(`/api/torrents/${id}?reason=Trumped`))
  // Notices about a deleted torrent would lead nowhere.
  expect(await listOf(uploader.client)).toMatchObject([
    { kind: 'deletion', torrent: null, details: { name: 'Moderated', reason: 'Trumped' } },
  ])
})

test('what uploaders and staff do with their own torrents sends no notice', async () => {
  const own = await staff.upload(makeTorrent('By staff'), { category: 'other' })
  await staff.patch(`/api/torrents/${own.member('id')}`, { description: 'Mine', downloadPercent: 0 })
  expect(await listOf(staff)).toEqual([])
})

test('a change and its notice are committed together', async () => {
  const uploader = await createMember(tracker, 'together')
  const { id } = await uploadTorrent(uploader, 'Together')
  await tracker.sql(`alter table notices add constraint refused check (kind <> 'approval') not valid`)
  expect((await approve(id)).status).toBe(500)
  await tracker.sql('alter table notices drop constraint refused')
  expect((await uploader.client.get(`/api/torrents/${id}`)).json).toMatchObject({ state: 'pending' })
  await approve(id)
  expect(await listOf(uploader.client)).toHaveLength(1)
})

test('an inviter is notified of registrations, and members of new rates, theirs and site-wide ones', async () => {
  const inviter = await createMember(tracker, 'inviter')
  await tracker.sql('update users set invites_left = 1 where id = $1', [inviter.id])
  const invite = (await inviter.client.post('/api/user/invites')).member('code')
  await tracker
    .client()
    .post('/api/auth/register', { username: 'invited', email: 'invited@example.org', password: PASSWORD, invite })
  tracker.advance(1_000)
  await admin.patch(`/api/admin/users/${inviter.id}`, { canDownload: false })
  await admin.patch(`/api/admin/users/${inviter.id}`, { uploadPercent: 150, reason: 'Thanks' })
  tracker.advance(1_000)
  await admin.patch('/api/admin/site', { downloadPercent: 0 })
  expect(await listOf(inviter.client)).toMatchObject([
    { kind: 'rates', torrent: null, details: { scope: 'site', downloadPercent: 0, uploadPercent: 100 } },
    { kind: 'rates', torrent: null, details: { scope: 'account', downloadPercent: 100, uploadPercent: 150 } },
    { kind: 'invite', details: { username: 'invited' } },
  ])
  expect(await listOf(admin)).toEqual([])
  await admin.patch('/api/admin/site', { downloadPercent: 100 })
})

test('members mute kinds, and receive the others', async () => {
  const uploader = await createMember(tracker, 'quiet')
  const settings = '/api/notices/settings'
  expect((await uploader.client.get(settings)).json).toEqual({ muted: [], mailed: [] })
  const muted = ['rejection', 'approval', 'approval']
  const expected = { muted: ['approval', 'rejection'], mailed: [] }
  expect((await uploader.client.patch(settings, { muted })).json).toEqual(expected)
  expect((await uploader.client.get(settings)).json).toEqual(expected)
  for (const wrong of [{ muted: ['all'] }, { muted: 'approval' }, { muted: [...NOTICE_KINDS, 'approval'] }])
    expect((await uploader.client.patch(settings, wrong)).status).toBe(400)
  const { id } = await uploadTorrent(uploader, 'Quiet')
  await approve(id)
  await staff.patch(`/api/torrents/${id}`, { description: 'Edited' })
  expect(await listOf(uploader.client)).toMatchObject([{ kind: 'edit' }])
})

test('notices are read one by one or up to a time, and only by their recipient', async () => {
  const reader = await createMember(tracker, 'reader')
  const other = await createMember(tracker, 'other')
  await sendMany(reader, 4)
  expect(await unreadOf(reader.client)).toEqual(exactly(4))
  const [newest, second, third] = await listOf(reader.client)
  if (newest === undefined || second === undefined || third === undefined) throw new Error('too few notices')
  expect((await other.client.post(`/api/notices/${third.id}/read`)).status).toBe(404)
  for (let i = 0; i < 2; i += 1) expect((await reader.client.post(`/api/notices/${third.id}/read`)).status).toBe(204)
  expect(await unreadOf(reader.client)).toEqual(exactly(3))
  await other.client.post('/api/notices/read', {})
  expect((await reader.client.post('/api/notices/read', { until: second.created })).status).toBe(204)
  expect((await listOf(reader.client)).map(({ isRead }) => isRead)).toEqual([false, true, true, true])
  expect(await listOf(reader.client, '?unread=true')).toMatchObject([{ id: newest.id }])
  await reader.client.post('/api/notices/read', {})
  expect(await unreadOf(reader.client)).toEqual(exactly(0))
  for (const until of ['yesterday', 5, '2027-02-30T00:00:00Z'])
    expect((await reader.client.post('/api/notices/read', { until })).status).toBe(400)
  for (const id of ['x', reader.id]) expect((await reader.client.post(`/api/notices/${id}/read`)).status).toBe(404)
})

test('a member keeps the newest notices, and unread ones are counted up to 99', async () => {
  const popular = await createMember(tracker, 'popular')
  await sendMany(popular, 1)
  const [first] = await listOf(popular.client)
  await sendMany(popular, MAX_NOTICES)
  const { json } = await popular.client.get('/api/notices?limit=1')
  expect(json).toMatchObject({
    total: MAX_NOTICES,
    items: [{ details: { search: { name: `Search ${MAX_NOTICES - 1}` } } }],
  })
  expect((await popular.client.post(`/api/notices/${first?.id}/read`)).status).toBe(404)
  expect(await unreadOf(popular.client)).toEqual({ total: 99, totalIsExact: false })
})

test('unread notices of one topic are joined, until they are read', async () => {
  const joined = await createMember(tracker, 'joined')
  await sendMany(joined, 3, 'a')
  await sendMany(joined, 1, 'b')
  expect(await listOf(joined.client)).toMatchObject([
    { times: 1 },
    { times: 3, details: { search: { name: 'Search 2' } } },
  ])
  await joined.client.post('/api/notices/read', {})
  await sendMany(joined, 1, 'a')
  expect(await listOf(joined.client)).toMatchObject([
    { times: 1, isRead: false },
    { times: 1, isRead: true },
    { times: 3, isRead: true },
  ])
})

test('concurrent notices to the same members neither fail nor exceed the limit', async () => {
  const members = await Promise.all(['a', 'b', 'c'].map((name) => createMember(tracker, `busy-${name}`)))
  const sendOnce = (round: number) => {
    const order = round % 2 === 0 ? members : members.toReversed()
    const notices = order.map(({ id }) => ({ to: id, kind: 'search', topic: String(round % 3) }) as const)
    const by = { actorId: '', at: new Date(tracker.now() + round) }
    return tracker.db.transaction().execute((trx) => notify(trx, by, [...notices, ...notices]))
  }
  await Promise.all(Array.from({ length: 60 }, (_, round) => sendOnce(round)))
  for (const { client } of members) expect((await listOf(client)).map(({ times }) => times)).toEqual([20, 20, 20])
})

test('members who completed a torrent without seeders are asked to seed it', async () => {
  const [uploader, asker, seeder, idle, banned] = await Promise.all(
    ['owner', 'asker', 'finisher', 'idler', 'outcast'].map((name) => createMember(tracker, name)),
  )
  if (!uploader || !asker || !seeder || !idle || !banned) throw new Error('too few members')
  const { id } = await uploadTorrent(uploader, 'Dead')
  const ask = (who: TestMember, torrent = id) => who.client.post(`/api/torrents/${torrent}/reseed`)
  expect((await ask(asker)).status).toBe(404)
  await approve(id)
  await uploader.client.post('/api/notices/read', {})
  for (const [member, completed] of [
    [seeder, true],
    [asker, true],
    [banned, true],
    [idle, false],
  ] as const)
    await tracker.sql(
      `insert into user_torrents (user_id, torrent_id, last_state, first_seen_at, last_seen_at, completed_at)
        values ($1, $2, 'stopped', now(), now(), $3)`,
      [member.id, id, completed ? new Date(NOON) : null],
    )
  await tracker.sql(`update users set state = 'banned' where id = $1`, [banned.id])
  await tracker.sql('update torrent_stats set seeders = 1 where torrent_id = $1', [id])
  expect((await ask(asker)).status).toBe(409)
  await tracker.sql('update torrent_stats set seeders = 0 where torrent_id = $1', [id])
  await tracker.sql('update user_torrents set completed_at = null where user_id = $1', [seeder.id])
  await tracker.sql('update user_torrents set completed_at = null where user_id = $1', [asker.id])
  // No one to ask, so others can still ask.
  expect((await ask(uploader)).json).toEqual({ members: 0 })
  await tracker.sql('update user_torrents set completed_at = $1 where torrent_id = $2 and user_id <> $3', [
    ...[new Date(NOON), id, idle.id],
  ])
  await tracker.sql('update torrent_stats set seeders = 0 where torrent_id = $1', [id])
  const answers = await Promise.all([ask(asker), ask(asker)])
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
  expect((await ask(idle)).status).toBe(409)
  // The uploader and the member who completed it; the requester, who did too, is left out.
  expect(answers.find(({ status }) => status === 200)?.json).toEqual({ members: 2 })
  const reseed = { kind: 'reseed', torrent: { id, name: 'Dead' } }
  expect(await listOf(uploader.client, '?unread=true')).toMatchObject([reseed])
  expect(await listOf(seeder.client)).toMatchObject([reseed])
  expect(await listOf(idle.client)).toEqual([])
  tracker.advance(71 * HOUR)
  expect((await ask(asker)).status).toBe(409)
  tracker.advance(HOUR)
  expect((await ask(asker)).status).toBe(200)
  expect(await listOf(seeder.client)).toMatchObject([{ ...reseed, times: 2 }])
  expect((await ask(asker, 'x')).status).toBe(404)
})

test('a member asks for seeders of five torrents per day, even all at once', async () => {
  const [uploader, asker] = [await createMember(tracker, 'owner-of-many'), await createMember(tracker, 'asker-of-many')]
  const ids: string[] = []
  for (let i = 0; i < 7; i += 1) {
    const { id } = await uploadTorrent(uploader, `Dead ${i}`)
    await approve(id)
    ids.push(id)
  }
  const ask = (id = '') => asker.client.post(`/api/torrents/${id}/reseed`)
  const answers = await Promise.all(ids.map(ask))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
  const refused = ids.filter((_, i) => answers[i]?.status === 409)
  tracker.advance(24 * HOUR)
  expect((await ask(refused[0])).status).toBe(200)
})

test('notices about a torrent are deleted with it, except about further matches of a search', async () => {
  const uploader = await createMember(tracker, 'purged')
  const follower = await createMember(tracker, 'follower')
  const { id } = await uploadTorrent(uploader, 'Purged')
  await approve(id)
  const search = { to: follower.id, kind: 'search', torrentId: id } as const
  const by = { actorId: uploader.id, at: new Date(tracker.now()) }
  await notify(tracker.db, by, [{ ...search, topic: 'a' }])
  await notify(tracker.db, by, [{ ...search, topic: 'a' }])
  await notify(tracker.db, by, [{ ...search, topic: 'b' }])
  await uploader.client.delete(`/api/torrents/${id}`)
  expect(await listOf(uploader.client)).toEqual([])
  expect(await listOf(follower.client)).toMatchObject([{ kind: 'search', times: 1, torrent: null }])
})
