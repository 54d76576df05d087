import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Redis } from 'ioredis'
import { writeAccounting } from './support/accounting.ts'
import type { AccountingCase, Step, Totals } from './support/accounting-case.ts'
import { ACCOUNTING_CASES } from './support/accounting-cases.ts'
import { announce } from './support/announcer.ts'
import { tellOfChange } from './support/invalidations.ts'
import { createAnnouncer, createMember, uploadTorrent } from './support/members.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let redis: Redis
const torrents: { readonly id: string; readonly infoHash: string }[] = []
let serial = 0

beforeAll(async () => {
  tracker = await startTracker({ ALLOW_PRIVATE_PEERS: 'true', ALLOW_IP_PARAM: 'true' })
  tracker.holdClock()
  await tracker.context.useCases.categories.seed()
  // All at once: the cases move the clock past the end of any session.
  const uploader = await createMember(tracker, 'uploader')
  for (const name of ['Of no case', ...ACCOUNTING_CASES.map((each) => each.name)])
    torrents.push(await uploadTorrent(uploader, name))
  redis = new Redis(tracker.redisUrl)
})
afterAll(async () => {
  redis.disconnect()
  await tracker.stop()
})

async function setPercents(percents: AccountingCase['percents'], userId: string, torrentId: string): Promise<void> {
  const { user, torrent, site } = percents ?? {}
  const set = 'set upload_percent = $1, download_percent = $2'
  await tracker.sql(`update users ${set} where id = $3`, [user?.up ?? 100, user?.down ?? 100, userId])
  await tracker.sql(`update torrents ${set} where id = $3`, [torrent?.up ?? 100, torrent?.down ?? 100, torrentId])
  await tracker.sql(`update site_settings ${set}`, [site?.up ?? 100, site?.down ?? 100])
  await tellOfChange(redis, { kind: 'site-settings' })
}

async function totalsOf(
  member: { readonly id: string },
  torrentId: string,
): Promise<Record<string, unknown> | undefined> {
  const rows = await tracker.sql(
    `select uploaded, downloaded, uploaded_actual, downloaded_actual, seed_seconds, completed_at is not null as completed
     from user_torrents where user_id = $1 and torrent_id = $2`,
    [member.id, torrentId],
  )
  return rows[0]
}

function expected({ up = 0, down = 0, creditedUp = up, creditedDown = down, completed = false }: Totals) {
  return {
    uploaded: String(creditedUp),
    downloaded: String(creditedDown),
    uploaded_actual: String(up),
    downloaded_actual: String(down),
    completed,
  }
}

test('writes a batch three seconds after it was taken, when Redis has synced it', async () => {
  const member = await createAnnouncer(tracker, 'settler')
  const torrent = torrents[0]
  if (torrent === undefined) throw new Error('no torrent for this test')
  await announce(tracker.url, member.passkey, { infoHash: torrent.infoHash, event: 'started' })
  // The background flushes by the same clock, so none of this depends on who takes and writes the batch.
  const waits = { written: 0, waiting: 1, failed: 0 }
  for (const passed of [0, 0, 2_000]) {
    tracker.advance(passed)
    expect(await tracker.flush()).toEqual(waits)
    expect(await totalsOf(member, torrent.id)).toBeUndefined()
  }
  tracker.advance(1_000)
  await tracker.flush()
  expect(await totalsOf(member, torrent.id)).toMatchObject(expected({}))
})

test.each(ACCOUNTING_CASES.map((each) => [each.name, each] as const))('%s', async (_name, each) => {
  serial += 1
  const members = {
    alice: await createAnnouncer(tracker, `alice-${String(serial)}`),
    bob: await createAnnouncer(tracker, `bob-${String(serial)}`),
  }
  const torrent = torrents[serial]
  if (torrent === undefined) throw new Error('no torrent for this case')
  const twin = randomBytes(20)
  await tracker.sql('update torrents set info_hash_v2 = $1 where id = $2', [twin, torrent.id])
  await setPercents(each.percents, members.alice.id, torrent.id)

  const perform = async (step: Step): Promise<void> => {
    const writes = step.before === 'flushed' || step.before === 'redis emptied'
    const passed = writes ? await writeAccounting(tracker) : 0
    if (step.before === 'redis emptied') await redis.flushdb()
    tracker.advance(((step.after ?? 0) - passed) * 1000)
    if (step.before === 'taken') await tracker.flush()
    const reply = await announce(tracker.url, members[step.who ?? 'alice'].passkey, {
      infoHash: step.v2 === true ? twin.toString('hex') : torrent.infoHash,
      peerId: step.peerId ?? (step.who === 'bob' ? '-BB0001-abcdefghijkl' : '-AA0001-abcdefghijkl'),
      uploaded: step.up,
      downloaded: step.down ?? 0,
      left: step.left ?? 1000,
      event: step.event,
      ip: step.ipv6 === true ? '2a00::1' : step.elsewhere === true ? '203.0.113.9' : '198.51.100.7',
    })
    expect(reply.fields['failure reason']).toBeUndefined()
  }
  for (const step of each.steps) await perform(step)
  await writeAccounting(tracker)

  for (const [who, totals] of [
    ['alice', each.alice],
    ['bob', each.bob],
  ] as const) {
    if (totals === undefined) continue
    const found = await totalsOf(members[who], torrent.id)
    expect(found).toMatchObject(expected(totals))
    if (totals.seconds !== undefined) expect(found).toMatchObject({ seed_seconds: String(totals.seconds) })
    const { uploaded, downloaded, uploaded_actual, downloaded_actual } = expected(totals)
    const users = await tracker.sql(
      'select uploaded, downloaded, uploaded_actual, downloaded_actual, last_seen_at from users where id = $1',
      [members[who].id],
    )
    expect(users).toEqual([
      { uploaded, downloaded, uploaded_actual, downloaded_actual, last_seen_at: expect.any(Date) },
    ])
  }
  const stats = await tracker.sql('select completed from torrent_stats where torrent_id = $1', [torrent.id])
  expect(stats).toEqual([{ completed: each.completed ?? 0 }])
})

test('a total stops at the largest safe integer, and the account stays readable', async () => {
  const member = await createMember(tracker, 'collector')
  const [torrent] = torrents
  if (torrent === undefined) throw new Error('no torrent')
  await tracker.sql('update users set uploaded = $1, uploaded_actual = $1 where id = $2', [
    Number.MAX_SAFE_INTEGER - 5,
    member.id,
  ])
  const seed = (uploaded: number) =>
    announce(tracker.url, member.passkey, { infoHash: torrent.infoHash, left: 0, uploaded, event: 'started' })
  await seed(0)
  tracker.advance(60_000)
  await seed(1_000)
  await writeAccounting(tracker)
  const client = await tracker.signedIn('collector-again')
  const me = await client.get(`/api/user/${member.id}/stats`)
  expect([me.status, me.json]).toMatchObject([200, { uploaded: Number.MAX_SAFE_INTEGER }])
})
