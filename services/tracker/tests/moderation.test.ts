import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { makeTorrent } from './support/make-torrent.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker

beforeAll(async () => {
  tracker = await startTracker({ UPLOAD_APPROVAL: 'manual' })
  await tracker.context.useCases.categories.seed()
})

afterAll(() => tracker.stop())

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
  const automatic = await tracker.replica({ UPLOAD_APPROVAL: 'automatic' })
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
  await automatic.stop()
})
