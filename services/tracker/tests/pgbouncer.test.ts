import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type PgBouncer, startPgBouncer, type TestDatabase } from '@vault-and-tracker/dev-env'
import { writeAccounting } from './support/accounting.ts'
import { announce } from './support/announcer.ts'
import { createAnnouncer, createMember, uploadTorrent } from './support/members.ts'
import { createTrackerDatabase, startTracker } from './support/tracker.ts'

let database: TestDatabase
let pooler: PgBouncer

beforeAll(async () => {
  database = await createTrackerDatabase()
  pooler = await startPgBouncer(database.appUrl)
})
afterAll(async () => {
  await pooler.stop()
  await database.drop()
})

test('a tracker does not start through PgBouncer without the parameter', async () => {
  const start = startTracker({}, { database: { ...database, appUrl: pooler.url } })
  await expect(start).rejects.toThrow('unsupported startup parameter')
})

test('a torrent is uploaded, found, announced and credited through PgBouncer in transaction mode', async () => {
  const appUrl = `${pooler.url}?pgbouncer=true`
  const tracker = await startTracker({ ALLOW_PRIVATE_PEERS: 'true' }, { database: { ...database, appUrl } })
  await tracker.context.useCases.categories.seed()
  const uploader = await createMember(tracker, 'uploader')
  const seeder = await createAnnouncer(tracker, 'seeder')
  const leecher = await createAnnouncer(tracker, 'leecher')
  const { infoHash } = await uploadTorrent(uploader, 'Pooled.Show.S01E02.1080p.WEB-DL.H.264-GROUP')

  const searches = await Promise.all(
    Array.from({ length: 10 }, () => uploader.client.get('/api/torrents?q=pooled+1080p&season=1')),
  )
  expect(searches.map(({ status, json }) => [status, json])).toEqual(
    searches.map(() => [200, expect.objectContaining({ total: 1 })]),
  )

  await announce(tracker.url, seeder.passkey, { infoHash, left: 0, port: 7001, event: 'started' })
  const reply = await announce(tracker.url, leecher.passkey, { infoHash, port: 7002, event: 'started' })
  expect(reply.peers).toEqual(['127.0.0.1:7001'])
  tracker.advance(1_800_000)
  await announce(tracker.url, seeder.passkey, { infoHash, left: 0, port: 7001, uploaded: 1000 })
  await writeAccounting(tracker)
  expect(await tracker.sql('select uploaded from users where id = $1', [seeder.id])).toEqual([{ uploaded: '1000' }])
  expect((await fetch(`${tracker.url}/ready`)).status).toBe(200)
  await tracker.stop()
})
