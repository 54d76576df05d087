import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Client } from './support/client.ts'
import { makeTorrent } from './support/make-torrent.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
/** Approves uploads by itself. */
let automatic: TestTracker

beforeAll(async () => {
  tracker = await startTracker({ UPLOAD_APPROVAL: 'manual' })
  automatic = await tracker.replica({ UPLOAD_APPROVAL: 'automatic' })
  await tracker.context.useCases.categories.seed()
})

afterAll(async () => {
  await automatic.stop()
  await tracker.stop()
})

const idOf = async (client: Client) => (await client.get('/api/user/me')).member('id')

test('with manual approval a torrent waits for staff, and its uploader can see and seed it', async () => {
  const member = await tracker.signedIn('member')
  const other = await tracker.signedIn('other')
  const staff = await tracker.signedIn('staff', 'moderator')
  const upload = await member.upload(makeTorrent('Waiting'), { category: 'other' })
  const path = `/api/torrents/${upload.member('id')}`
  expect(upload.json).toMatchObject({ state: 'pending' })
  expect((await other.get(path)).status).toBe(404)
  expect((await other.get(`${path}/download`)).status).toBe(404)
  expect((await other.get('/api/torrents')).json).toMatchObject({ total: 0 })
  expect((await member.get(`${path}/download`)).status).toBe(200)

  const admins = `/api/admin/torrents`
  expect((await staff.get(admins)).json).toMatchObject({ total: 1, items: [{ name: 'Waiting' }] })
  const rejected = await staff.post(`${admins}/${upload.member('id')}/reject`, { reason: 'mislabelled' })
  expect(rejected.json).toMatchObject({ state: 'rejected', stateReason: 'mislabelled' })
  expect((await member.get(path)).json).toMatchObject({ stateReason: 'mislabelled' })
  expect((await member.get(`${path}/download`)).status).toBe(403)
  expect((await staff.get(`${admins}?state=rejected`)).json).toMatchObject({ total: 1 })
  await staff.post(`${admins}/${upload.member('id')}/approve`)
  expect((await other.get(`${path}/download`)).status).toBe(200)
  expect((await other.get('/api/torrents')).json).toMatchObject({ total: 1 })
  expect((await staff.upload(makeTorrent('By.Staff'), { category: 'other' })).json).toMatchObject({
    state: 'approved',
  })
})

test('a torrent is as old as its first approval, so that lists and saved searches have it as new', async () => {
  const member = await tracker.signedIn('patient')
  const staff = await tracker.signedIn('late', 'moderator')
  const saved = await member.post('/api/saved-searches', { name: 'Patience', filters: 'search=patience' })
  const upload = await member.upload(makeTorrent('Patience'), { category: 'other' })
  tracker.advance(3_600_000)
  await member.post(`/api/saved-searches/${saved.member('id')}/visit`)
  tracker.advance(1_000)
  const path = `/api/torrents/${upload.member('id')}`
  await staff.post(`/api/admin${path.slice(4)}/approve`)
  const first = (await member.get(path)).member('created')
  expect(Date.parse(first)).toBeGreaterThan(Date.parse(upload.member('created')) + 3_600_000)
  expect((await member.get('/api/saved-searches')).json).toMatchObject({ items: [{ recent: { count: 1 } }] })
  tracker.advance(60_000)
  await staff.post(`/api/admin${path.slice(4)}/reject`, { reason: 'mislabelled' })
  await staff.post(`/api/admin${path.slice(4)}/approve`)
  expect((await member.get(path)).member('created')).toBe(first)
})

test.each(['automatic', 'manual'] as const)(
  'with %s approval of edits, what a member changes of an approved torrent is known to staff',
  async (approval) => {
    const site = await tracker.replica({ EDIT_APPROVAL: approval })
    const [member, admin] = [await site.signedIn(`edits-${approval}`), await site.signedIn(`log-${approval}`, 'admin')]
    const staff = await site.signedIn(`staff-${approval}`, 'moderator')
    const upload = await member.upload(makeTorrent(`Approved.${approval}`), { category: 'other' })
    const [path, id] = [`/api/torrents/${upload.member('id')}`, upload.member('id')]
    const logged = async (): Promise<number> =>
      ((await admin.get(`/api/admin/log?target=${id}&action=torrent.update`)).json as { total: number }).total
    // Edits of a pending torrent are not logged, because a moderator reviews its current state.
    expect((await member.patch(path, { name: 'Before.Approval' })).json).toMatchObject({ state: 'pending' })
    expect(await logged()).toBe(0)
    await staff.post(`/api/admin/torrents/${id}/approve`)
    const edits = [{ name: 'Something.Else' }, { description: 'Not what it was' }, { category: 'movies' }]
    for (const [i, edit] of edits.entries()) {
      const state = approval === 'manual' ? 'pending' : 'approved'
      expect((await member.patch(path, edit)).json).toMatchObject({ state })
      expect(await logged()).toBe(i + 1)
      await staff.post(`/api/admin/torrents/${id}/approve`)
    }
    // Unchanged text, fields that do not describe the content, and edits by staff do not need approval.
    expect((await member.patch(path, { name: 'Something.Else' })).json).toMatchObject({ state: 'approved' })
    expect((await member.patch(path, { imdb: 'tt0111161' })).json).toMatchObject({ state: 'approved' })
    expect((await staff.patch(path, { name: 'By.Staff' })).json).toMatchObject({ state: 'approved' })
    await site.stop()
  },
)

test('moderators see earlier rejections of a deleted torrent that is uploaded again', async () => {
  const member = await automatic.signedIn('again')
  const staff = await automatic.signedIn('staff-again', 'moderator')
  const file = makeTorrent('Once.More')
  const upload = () => member.upload(file, { category: 'other' })
  const first = await upload()
  expect(first.json).toMatchObject({ state: 'approved' })
  await staff.post(`/api/admin/torrents/${first.member('id')}/reject`, { reason: 'contains malware' })
  await member.delete(`/api/torrents/${first.member('id')}`)
  await automatic.sql("update torrents set deleted_at = now() - interval '40 days' where id = $1", [first.member('id')])
  await automatic.context.useCases.torrents.purgeDeleted()

  const second = await upload()
  expect(second.json).toMatchObject({ state: 'pending', stateReason: 'Rejected before: contains malware' })
  const waiting = await staff.get('/api/admin/torrents')
  expect(waiting.json).toMatchObject({ items: [{ stateReason: 'Rejected before: contains malware' }] })

  const approved = await staff.post(`/api/admin/torrents/${second.member('id')}/approve`)
  expect(approved.json).toMatchObject({ state: 'approved', stateReason: null })
  await member.delete(`/api/torrents/${second.member('id')}`)
  expect((await upload()).json).toMatchObject({ state: 'approved', stateReason: null })
})

test('a rejected torrent that its uploader edits is reviewed again, and the rejection is remembered', async () => {
  const [member, staff] = [await automatic.signedIn('corrects'), await automatic.signedIn('reviews', 'moderator')]
  const file = makeTorrent('To.Be.Corrected')
  const id = (await member.upload(file, { category: 'other' })).member('id')
  const reject = () => staff.post(`/api/admin/torrents/${id}/reject`, { reason: 'no source' })
  await reject()
  expect((await staff.patch(`/api/torrents/${id}`, { description: 'By staff' })).json).toMatchObject({
    state: 'rejected',
  })
  for (const edit of [{ description: 'From a print' }, { imdb: 'tt0015324' }]) {
    expect((await member.patch(`/api/torrents/${id}`, edit)).json).toMatchObject({
      ...{ state: 'pending', stateReason: expect.stringContaining('. Rejected before: no source') },
    })
    await reject()
  }
  expect((await member.patch(`/api/torrents/${id}`, { name: 'Corrected' })).json).toMatchObject({ state: 'pending' })
  await member.delete(`/api/torrents/${id}`)
  expect((await member.upload(file, { category: 'other' })).json).toMatchObject({
    ...{ state: 'pending', stateReason: 'Rejected before: no source' },
  })
})

test('several torrents are decided at once, each with its own result', async () => {
  const [member, staff] = [await tracker.signedIn('several'), await tracker.signedIn('several-staff', 'moderator')]
  const ids: string[] = []
  for (const name of ['One', 'Two', 'Three'])
    ids.push((await member.upload(makeTorrent(`Several.${name}`), { category: 'other' })).member('id'))
  const [first = '', second = '', third = ''] = ids
  const stateOf = async (id: string) => (await staff.get(`/api/torrents/${id}`)).json
  const path = '/api/admin/torrents/decisions'
  const unknown = '0190b6a0-0000-7000-8000-000000000000'

  const approved = await staff.post(path, { ids: [first, unknown, first] })
  expect(approved.json).toEqual({
    items: [
      { id: first, error: null },
      { id: unknown, error: 'NOT_FOUND' },
    ],
  })
  const rejected = await staff.post(path, { ids: [second, third], reason: 'a sample is missing' })
  expect(rejected.json).toEqual({ items: [second, third].map((id) => ({ id, error: null })) })
  expect(await stateOf(first)).toMatchObject({ state: 'approved' })
  for (const id of [second, third])
    expect(await stateOf(id)).toMatchObject({ state: 'rejected', stateReason: 'a sample is missing' })
  for (const refused of [{ ids: [] }, { ids: Array<string>(26).fill(first) }, { ids: [first], reason: '' }])
    expect((await staff.post(path, refused)).status).toBe(400)
  expect((await member.post(path, { ids: [first] })).status).toBe(403)

  // The record counts what became of the uploads, and warnings.
  await member.delete(`/api/torrents/${third}`)
  const admin = await tracker.signedIn('several-admin', 'admin')
  const me = (await member.get('/api/user/me')).member('id')
  await admin.post(`/api/admin/users/${me}/warnings`, { text: 'Add samples.' })
  const record = { id: me, username: 'several', approved: 1, pending: 0, rejected: 1, deleted: 1, warnings: 1 }
  expect((await staff.get(`/api/admin/torrents/${first}/uploader`)).json).toMatchObject(record)
  expect((await member.get(`/api/admin/torrents/${first}/uploader`)).status).toBe(403)
})

test('moderators see the record of members, warn them and leave notes, but not of other staff', async () => {
  const [member, staff] = [await tracker.signedIn('recorded'), await tracker.signedIn('recording', 'moderator')]
  const [id, own] = [await idOf(member), await idOf(staff)]
  const path = `/api/admin/users/${id}`
  await member.upload(makeTorrent('Recorded'), { category: 'other' })
  expect((await staff.post(`${path}/warnings`, { text: 'Seed more.' })).status).toBe(201)
  expect((await staff.post(`${path}/notes`, { text: 'Knows the rules.' })).json).toMatchObject({
    ...{ text: 'Knows the rules.', author: { username: 'recording' } },
  })
  expect((await staff.get(`${path}/notes`)).json).toMatchObject({ items: [{ text: 'Knows the rules.' }] })
  expect((await staff.get(`${path}/warnings`)).json).toMatchObject({ total: 1 })
  expect((await staff.get(`${path}/record`)).json).toEqual({
    ...{ id, username: 'recorded', created: expect.any(String), role: 'member' },
    ...{ state: 'active', suspendedUntil: null, stateReason: null },
    ...{ approved: 0, pending: 1, rejected: 0, deleted: 0, warnings: 1 },
  })
  const everything = ['record', 'notes', 'warnings'].map((part) => `/${part}`)
  for (const part of everything) {
    expect((await member.get(path + part)).status).toBe(403)
    expect((await staff.get(`/api/admin/users/${own}${part}`)).status).toBe(403)
    expect((await staff.get(`/api/admin/users/nonsense${part}`)).status).toBe(404)
  }
  expect((await staff.post(`/api/admin/users/${own}/warnings`, { text: 'x' })).status).toBe(403)
  expect((await staff.post(`/api/admin/users/${own}/notes`, { text: 'x' })).status).toBe(403)
  // Email, addresses, sessions and permissions are for administrators.
  for (const rest of ['', '/sessions', '/invites']) expect((await staff.get(path + rest)).status).toBe(403)
  expect((await staff.get(`/api/admin/addresses?user=${id}`)).status).toBe(403)
  expect((await staff.get('/api/admin/torznab/requests')).status).toBe(403)
  expect((await staff.patch(path, { role: 'moderator' })).status).toBe(403)
  await tracker.context.useCases.accounts.change(own, { role: 'admin' })
  expect((await staff.get(`/api/admin/users/${own}/record`)).status).toBe(200)
})

test('a decision about a torrent that changed since the moderator saw it is refused', async () => {
  const [member, staff] = [await tracker.signedIn('baits'), await tracker.signedIn('decides', 'moderator')]
  const [first, second] = [
    (await member.upload(makeTorrent('Bait.One'), { category: 'other' })).member('id'),
    (await member.upload(makeTorrent('Bait.Two'), { category: 'other' })).member('id'),
  ]
  const versionOf = async (id: string) => (await staff.get(`/api/torrents/${id}`)).member('version')
  const state = async (id: string) => (await staff.get(`/api/torrents/${id}`)).member('state')
  const path = `/api/admin/torrents/${first}`
  const listed = (await staff.get('/api/admin/torrents?limit=100')).json as { items: { id: string; version: string }[] }
  const seen = await versionOf(first)
  expect(listed.items.find(({ id }) => id === first)).toMatchObject({ version: seen })
  expect((await member.get(`/api/torrents/${first}`)).json).toMatchObject({ version: null })

  for (const edit of [{ description: 'Something else' }, { imdb: 'tt0015324' }, { anonymous: true }]) {
    const version = await versionOf(first)
    expect((await member.patch(`/api/torrents/${first}`, edit)).status).toBe(200)
    expect((await staff.post(`${path}/approve?version=${version}`)).status).toBe(409)
    expect((await staff.post(`${path}/reject?version=${version}`, { reason: 'x' })).status).toBe(409)
  }
  const versions = { [first]: seen, [second]: await versionOf(second) }
  expect((await staff.post('/api/admin/torrents/decisions', { ids: [first, second], versions })).json).toEqual({
    items: [
      { id: first, error: 'CONFLICT' },
      { id: second, error: null },
    ],
  })
  expect([await state(first), await state(second)]).toEqual(['pending', 'approved'])

  // Of two moderators who saw the same, only the first decides.
  const version = await versionOf(first)
  expect((await staff.post(`${path}/reject?version=${version}`, { reason: 'mislabelled' })).status).toBe(200)
  expect((await staff.post(`${path}/approve?version=${version}`)).status).toBe(409)
  expect(await state(first)).toBe('rejected')
  expect((await staff.post(`${path}/approve?version=${await versionOf(first)}`)).status).toBe(200)
  expect((await staff.post(`${path}/approve`)).status).toBe(200)
})

test('staff leave notes on a torrent, which members cannot read', async () => {
  const [member, staff] = [await tracker.signedIn('noted'), await tracker.signedIn('noting', 'moderator')]
  const id = (await member.upload(makeTorrent('Noted'), { category: 'other' })).member('id')
  const path = `/api/admin/torrents/${id}/notes`
  for (const text of ['Asked for a sample.', 'It came.']) expect((await staff.post(path, { text })).status).toBe(201)
  const author = { username: 'noting' }
  expect((await staff.get(path)).json).toMatchObject({
    items: [
      { text: 'It came.', author },
      { text: 'Asked for a sample.', author },
    ],
  })
  expect([(await member.get(path)).status, (await member.post(path, { text: 'x' })).status]).toEqual([403, 403])
  await Promise.all(Array.from({ length: 60 }, (_, i) => staff.post(path, { text: `Note ${i}` })))
  expect(((await staff.get(path)).json as { items: unknown[] }).items).toHaveLength(50)
  expect((await staff.post(path, { text: 'One more.' })).status).toBe(409)
  expect((await staff.get('/api/admin/torrents/nonsense/notes')).status).toBe(404)
})
