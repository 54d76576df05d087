import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Client } from './support/client.ts'
import { makeTorrent } from './support/make-torrent.ts'
import { PASSWORD, startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let admin: Client
const paths = new Map<string, string>()

beforeAll(async () => {
  tracker = await startTracker()
  await tracker.context.useCases.categories.seed()
  admin = await tracker.signedIn('admin', 'admin')
  const { json } = await admin.get('/api/user/me')
  const { id } = json as { id: string }
  for (let i = 0; i < 3; i++) {
    await admin.post('/api/user/invites')
    await tracker.client().post('/api/auth/login', { username: 'admin', password: PASSWORD })
  }
  const file = makeTorrent('Folder', { files: ['a', 'b', 'c'].map((name) => [name, 1_000] as const) })
  const torrent = await admin.upload(file, { category: 'other' })
  paths.set('files', `/api/torrents/${torrent.member('id')}/files`)
  paths.set('own sessions', '/api/auth/sessions')
  paths.set('sessions', `/api/admin/users/${id}/sessions`)
  paths.set('own invites', '/api/user/invites')
  paths.set('invites', `/api/admin/users/${id}/invites`)
  paths.set('categories', '/api/categories')
  paths.set('managed categories', '/api/admin/categories')
})

afterAll(() => tracker.stop())

type List = { items: object[]; page: number; limit: number; total: number; totalIsExact: boolean }

test.each([
  ['files', 25],
  ['own sessions', 25],
  ['sessions', 25],
  ['own invites', 25],
  ['invites', 25],
  ['categories', 1_000],
  ['managed categories', 1_000],
])('the list of %s is paginated like every other', async (name, limit) => {
  const path = paths.get(name) ?? ''
  const read = async (query: string) => (await admin.get(path + query)).json as List
  const all = await read('')
  expect(all).toMatchObject({ page: 1, limit, total: all.items.length, totalIsExact: true })
  expect(all.total).toBeGreaterThan(2)
  const second = await read('?page=2&limit=2')
  expect(second).toMatchObject({ page: 2, limit: 2, total: all.total, totalIsExact: true })
  expect(second.items).toEqual(all.items.slice(2, 4))
  expect((await read('?page=5000&limit=2')).items).toEqual([])
  const refused = await admin.get(`${path}?limit=0`)
  expect([refused.status, refused.member('error', 'message')]).toEqual([400, expect.stringMatching(/^limit: /)])
})
