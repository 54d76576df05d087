import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { makeTorrent } from './support/make-torrent.ts'
import { requestsAreWritten } from './support/torznab-log.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker

beforeAll(async () => {
  tracker = await startTracker({ UPLOAD_APPROVAL: 'manual' })
  tracker.holdClock()
  await tracker.context.useCases.categories.seed()
})
afterAll(() => tracker.stop())

test('the overview has figures of each part of the site', async () => {
  const moderator = await tracker.signedIn('moderator', 'moderator')
  const member = await tracker.signedIn('member')
  expect((await member.get('/api/admin/overview')).status).toBe(403)
  const uploads = []
  for (const name of ['One', 'Two', 'Three'])
    uploads.push((await member.upload(makeTorrent(name), { category: 'other' })).member('id'))
  await moderator.post(`/api/admin/torrents/${uploads[0] ?? ''}/approve`)
  await tracker.sql('update torrent_stats set seeders = 4, leechers = 2 where torrent_id = $1', [uploads[0]])
  await tracker.signedIn('away')
  await tracker.sql(`update users set last_seen_at = null, api_blocked = true where username = 'away'`)
  await tracker.sql(`update users set last_seen_at = $1 where username <> 'away'`, [new Date(tracker.now() - 60_000)])
  for (let i = 0; i < 3; i += 1) await tracker.client().get('/api/torznab?t=search&apikey=wrong')
  await tracker.redisClient.zadd('torznab:blocks', tracker.now() + 1_000, '203.0.113.9', tracker.now() - 1, '192.0.2.1')
  await requestsAreWritten(tracker)
  expect((await moderator.get('/api/admin/overview')).json).toEqual({
    pending: 2,
    torrents: 1,
    members: 3,
    activeMembers: 2,
    blockedMembers: 1,
    blockedAddresses: 1,
    swarms: 1,
    seeders: 4,
    leechers: 2,
    announces: 0,
    refused: 0,
    torznab: { requests: 3, errors: 3 },
  })
})
