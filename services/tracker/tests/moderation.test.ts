import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { makeTorrent } from './support/make-torrent.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker

beforeAll(async () => {
  tracker = await startTracker({ UPLOAD_APPROVAL: 'manual' })
  await tracker.context.useCases.categories.seed()
})

afterAll(() => tracker.stop())

test('with manual approval a torrent waits for staff, while its uploader sees and seeds it', async () => {
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
