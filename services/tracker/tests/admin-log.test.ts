import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { withClient } from '@vault-and-tracker/dev-env'
import type { Client } from './support/client.ts'
import { makeTorrent } from './support/make-torrent.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

type Entry = {
  at: string
  actor: { id: string; username: string }
  action: string
  target: { type: string; id: string | null; name: string | null }
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
}

let tracker: TestTracker
let admin: Client
let moderator: Client
let member: Client

beforeAll(async () => {
  tracker = await startTracker({ UPLOAD_APPROVAL: 'manual' })
  admin = await tracker.signedIn('the-admin', 'admin')
  moderator = await tracker.signedIn('the-moderator', 'moderator')
  member = await tracker.signedIn('the-member')
})

afterAll(() => tracker.stop())

async function entries(query = ''): Promise<readonly Entry[]> {
  return ((await admin.get(`/api/admin/log${query}`)).json as { items: Entry[] }).items
}

async function newest(): Promise<Entry> {
  const [entry] = await entries('?limit=1')
  if (entry === undefined) throw new Error('the admin log is empty')
  return entry
}

const idOf = async (client: Client) => (await client.get('/api/user/me')).member('id')

async function upload(name: string): Promise<string> {
  return (await member.upload(makeTorrent(name), { category: 'other' })).member('id')
}

test('records that categories were seeded, created, changed and deleted', async () => {
  await admin.post('/api/admin/categories/seed')
  expect(await newest()).toMatchObject({
    actor: { id: await idOf(admin), username: 'the-admin' },
    action: 'category.seed',
    target: { type: 'category', id: null, name: null },
    before: null,
    after: { categories: 28 },
  })
  const made = await admin.post('/api/admin/categories', { slug: 'maps', name: 'Maps', torznabId: 8010 })
  const target = { type: 'category', id: made.member('id'), name: 'Maps' }
  const fields = { slug: 'maps', name: 'Maps', torznabId: 8010, parentId: null, position: 8 }
  expect(await newest()).toMatchObject({ action: 'category.create', target, before: null, after: fields })
  await admin.patch(`/api/admin/categories/${target.id}`, { name: 'Charts', position: 8 })
  const renamed = { ...target, name: 'Charts' }
  expect(await newest()).toMatchObject({ action: 'category.update', target: renamed })
  expect([(await newest()).before, (await newest()).after]).toEqual([{ name: 'Maps' }, { name: 'Charts' }])
  await admin.delete(`/api/admin/categories/${target.id}`)
  expect(await newest()).toMatchObject({
    action: 'category.delete',
    target: renamed,
    before: { ...fields, name: 'Charts' },
    after: null,
  })
})

test('records only the changed fields of a user', async () => {
  const id = await idOf(member)
  await admin.patch(`/api/admin/users/${id}`, { apiBlocked: true, canDownload: true, invitesLeft: 3 })
  expect(await newest()).toMatchObject({
    action: 'user.update',
    target: { type: 'user', id, name: 'the-member' },
    before: { apiBlocked: false, invitesLeft: 0 },
    after: { apiBlocked: true, invitesLeft: 3 },
  })
  expect(Object.keys((await newest()).after ?? {})).toEqual(['apiBlocked', 'invitesLeft'])
})

test('records the reason of a change of a user', async () => {
  const id = await idOf(member)
  await admin.patch(`/api/admin/users/${id}`, { canDownload: false, reason: 'shares an account' })
  expect(await newest()).toMatchObject({ before: { canDownload: true }, after: { reason: 'shares an account' } })
  await admin.patch(`/api/admin/users/${id}`, { canDownload: true })
})

test('records ended sessions', async () => {
  const id = await idOf(await tracker.signedIn('ended'))
  await admin.delete(`/api/admin/users/${id}/sessions`)
  const target = { type: 'user', id, name: 'ended' }
  expect(await newest()).toMatchObject({ action: 'user.sessions.end', target, before: null, after: null })
  expect(await entries(`?target=${id}`)).toHaveLength(1)
})

test('records a passkey reset without the passkey', async () => {
  const id = await idOf(member)
  const before = (await member.get('/api/user/me')).member('passkey')
  await admin.post(`/api/admin/users/${id}/passkey`)
  const after = (await member.get('/api/user/me')).member('passkey')
  expect(await newest()).toMatchObject({ action: 'user.passkey.reset', target: { type: 'user', id }, after: null })
  const rows = JSON.stringify(await tracker.sql('select * from admin_log'))
  for (const secret of [before, after, 'argon2', 'password']) expect(rows).not.toContain(secret)
})

test('records changes of the site and Torznab settings', async () => {
  await admin.patch('/api/admin/site', { downloadPercent: 0 })
  expect(await newest()).toMatchObject({
    action: 'site.update',
    target: { type: 'site', id: null, name: null },
    before: { downloadPercent: 100 },
    after: { downloadPercent: 0 },
  })
  await admin.patch('/api/admin/torznab/settings', { preset: 'strict' })
  expect(await newest()).toMatchObject({
    action: 'torznab.settings.update',
    target: { type: 'torznab' },
    before: { searchLimit: 30, downloadLimit: 20 },
    after: { searchLimit: 15, downloadLimit: 10 },
  })
})

test('records that staff approved, rejected, changed and deleted torrents', async () => {
  const id = await upload('Logged.Torrent')
  const target = { type: 'torrent', id, name: 'Logged.Torrent' }
  await moderator.post(`/api/admin/torrents/${id}/approve`)
  expect(await newest()).toMatchObject({
    actor: { username: 'the-moderator' },
    action: 'torrent.approve',
    target,
    before: { state: 'pending' },
    after: { state: 'approved' },
  })
  await moderator.post(`/api/admin/torrents/${id}/reject`, { reason: 'mislabelled' })
  expect(await newest()).toMatchObject({
    action: 'torrent.reject',
    before: { state: 'approved', stateReason: null },
    after: { state: 'rejected', stateReason: 'mislabelled' },
  })
  await moderator.patch(`/api/torrents/${id}`, { downloadPercent: 0, description: 'long '.repeat(1_000) })
  const changed = await newest()
  expect(changed).toMatchObject({ action: 'torrent.update', before: { downloadPercent: 100, description: '' } })
  expect(String(changed.after?.['description'])).toHaveLength(501)
  await moderator.delete(`/api/torrents/${id}`)
  expect(await newest()).toMatchObject({ action: 'torrent.delete', target, after: { deleted: true } })
})

test('cuts long text between characters', async () => {
  const id = await upload('Described.Show.S01E01')
  const answer = await moderator.patch(`/api/torrents/${id}`, { description: `${'a'.repeat(499)}😀 and more` })
  expect(answer.status).toBe(200)
  expect(await newest()).toMatchObject({ after: { description: `${'a'.repeat(499)}…` } })
})

test("does not record members' own changes, changes without effect, and failures", async () => {
  const before = (await entries('?limit=100')).length
  const id = await upload('Own.Torrent')
  await member.patch(`/api/torrents/${id}`, { description: 'mine' })
  await member.delete(`/api/torrents/${id}`)
  await admin.patch('/api/admin/torznab/settings', { preset: 'strict' })
  await admin.patch(`/api/admin/users/${await idOf(member)}`, { canDownload: true })
  await admin.patch(`/api/admin/users/${await idOf(admin)}`, { role: 'member' })
  await admin.post('/api/admin/categories', { slug: 'movies', name: 'Taken', torznabId: 1 })
  await admin.post('/api/admin/categories/seed')
  expect((await entries('?limit=100')).length).toBe(before)
})

test('records staff who change the rates of their own torrent', async () => {
  const id = (await moderator.upload(makeTorrent('Staff.Upload'), { category: 'other' })).member('id')
  await moderator.patch(`/api/torrents/${id}`, { downloadPercent: 0 })
  expect(await newest()).toMatchObject({ action: 'torrent.update', after: { downloadPercent: 0 } })
})

test('records a lifted block of an address', async () => {
  expect((await admin.delete('/api/admin/torznab/blocks/192.0.2.1')).status).toBe(404)
  const until = Date.now() + 600_000
  await tracker.redisClient.hset('torznab:address:192.0.2.1', { until, penalty: 300_000 })
  await tracker.redisClient.zadd('torznab:blocks', until, '192.0.2.1')
  expect((await admin.get('/api/admin/torznab/blocks')).json).toMatchObject({
    items: [{ address: '192.0.2.1', penaltySeconds: 300 }],
  })
  expect((await admin.delete('/api/admin/torznab/blocks/192.0.2.1')).status).toBe(204)
  expect((await admin.get('/api/admin/torznab/blocks')).json).toEqual({ items: [] })
  expect(await newest()).toMatchObject({
    action: 'torznab.unblock',
    target: { type: 'address', id: '192.0.2.1' },
    before: { blocked: true },
    after: { blocked: false },
  })
})

test('records a new order of categories, and that all were deleted', async () => {
  const listed = await admin.get('/api/admin/categories')
  const { items } = listed.json as { items: { id: string; subcategories: { id: string }[] }[] }
  const ids = items.flatMap(({ id, subcategories }) => [id, ...subcategories.map((sub) => sub.id)])
  await admin.post('/api/admin/categories/order', { ids: [ids[1], ids[0], ...ids.slice(2)] })
  expect(await newest()).not.toMatchObject({ action: 'category.arrange' })
  await admin.post('/api/admin/categories/order', { ids: ids.toReversed() })
  expect(await newest()).toMatchObject({
    action: 'category.arrange',
    target: { type: 'category', id: null, name: null },
    before: { movies: 0, other: 7 },
    after: { movies: 7, other: 0 },
  })
  const torrents = (await tracker.sql('select from torrents where deleted_at is null')).length
  await admin.delete('/api/admin/categories')
  expect(await newest()).toMatchObject({
    action: 'category.delete-all',
    before: { categories: 28, torrents },
    after: null,
  })
})

test('rolls back a change that cannot be recorded', async () => {
  await tracker.sql('alter table admin_log add constraint broken check (false) not valid')
  expect((await admin.patch('/api/admin/site', { uploadPercent: 300 })).status).toBe(500)
  expect((await admin.patch('/api/admin/torznab/settings', { searchLimit: 77 })).status).toBe(500)
  await tracker.sql('alter table admin_log drop constraint broken')
  expect((await admin.get('/api/admin/site')).json).toMatchObject({ uploadPercent: 100 })
  expect((await admin.get('/api/admin/torznab/settings')).json).toMatchObject({ searchLimit: 15 })
})

test('filters by actor, action, target and time, newest first', async () => {
  const all = await entries('?limit=100')
  expect(all.map(({ at }) => at)).toEqual(
    all
      .map(({ at }) => at)
      .toSorted()
      .reverse(),
  )
  const byModerator = await entries('?actor=THE-moderator&limit=100')
  expect(byModerator).toEqual(all.filter(({ actor }) => actor.username === 'the-moderator'))
  expect(await entries(`?actor=${await idOf(moderator)}&limit=100`)).toEqual(byModerator)
  const deleted = await entries('?action=torrent.delete')
  expect(deleted.map(({ action }) => action)).toEqual(['torrent.delete'])
  expect(await entries('?actor=nobody')).toEqual([])
  const [third] = all.slice(2)
  const since = encodeURIComponent(third?.at ?? '')
  expect(await entries(`?from=${since}&limit=100`)).toEqual(all.filter(({ at }) => at >= (third?.at ?? '')))
  expect(await entries(`?to=${since}&limit=100`)).toEqual(all.filter(({ at }) => at < (third?.at ?? '')))
  const page = await admin.get('/api/admin/log?page=2&limit=2')
  expect(page.json).toMatchObject({ page: 2, limit: 2, total: all.length, totalIsExact: true, items: all.slice(2, 4) })
})

test('exports the matching actions as CSV, which no spreadsheet runs, and as JSON', async () => {
  await admin.post('/api/admin/categories', { slug: 'sums', name: '=1+1, "two"', torznabId: 8020 })
  const csv = await admin.get('/api/admin/log/export?format=csv&action=category.create')
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(csv.headers.get('content-disposition')).toBe('attachment; filename="admin-log.csv"')
  const [head, newestLine, ...older] = csv.text.trimEnd().split('\r\n')
  expect(head).toBe('at,actor,action,targetType,target,before,after,actorId,targetId,id')
  expect(newestLine).toContain(`,the-admin,category.create,category,"'=1+1, ""two""",,"{""`)
  const listed = await entries('?action=category.create&limit=100')
  expect(older).toHaveLength(listed.length - 1)
  const json = await admin.get('/api/admin/log/export?format=json&action=category.create&actor=the-admin')
  expect(json.json).toMatchObject(listed.map(({ at, target }) => ({ at, actor: 'the-admin', target: target.name })))
})

test('an export has each action once, even if thousands happened at the same moment', async () => {
  await tracker.sql(
    `insert into admin_log (id, at, actor_id, action, target_type)
     select gen_random_uuid(), '2020-01-01T00:00:00.123456Z', $1, 'site.update', 'site' from generate_series(1, 1000)`,
    [await idOf(admin)],
  )
  const exported = await admin.get('/api/admin/log/export?format=json&to=2021-01-01T00:00:00Z')
  expect(new Set((exported.json as Entry[]).map((entry) => JSON.stringify(entry))).size).toBe(1_000)
})

test.each([
  'action=nonsense',
  'from=yesterday',
  'page=0',
  'limit=101',
  'from=2026-01-01T12:45:00Z&to=2026-01-01T12:15:00Z',
])('the query %s is refused', async (query) => {
  expect((await admin.get(`/api/admin/log?${query}`)).status).toBe(400)
})

test('only administrators can read the log', async () => {
  expect((await moderator.get('/api/admin/log')).status).toBe(403)
  expect((await moderator.get('/api/admin/log/export?format=csv')).status).toBe(403)
  expect((await member.get('/api/admin/log')).status).toBe(403)
  expect((await tracker.client().get('/api/admin/log')).status).toBe(401)
})

test.each(['update admin_log set action = action', 'delete from admin_log', 'truncate admin_log'])(
  'the run-time role may not: %s',
  async (statement) => {
    await expect(withClient(tracker.database.appUrl, (client) => client.query(statement))).rejects.toThrow(
      /permission denied/,
    )
  },
)
