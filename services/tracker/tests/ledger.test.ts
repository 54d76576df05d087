import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import type { CountedSwarm, Ledger } from '../src/accounting/accounting.ts'
import { createLedger } from '../src/accounting/ledger.store.ts'
import type { Delta } from '../src/swarm/swarm.ts'
import { createAnnouncer, createMember, type TestMember, uploadTorrent } from './support/members.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

/** Seconds since the epoch. */
const START = 1_800_000_000

let tracker: TestTracker
let ledger: Ledger
let uploader: TestMember
let serial = 0
let userId: string
let torrent: { readonly id: string; readonly infoHash: string }

beforeAll(async () => {
  tracker = await startTracker()
  await tracker.context.useCases.categories.seed()
  ledger = createLedger(tracker.db)
  uploader = await createMember(tracker, 'uploader')
})
afterAll(() => tracker.stop())
beforeEach(async () => {
  serial += 1
  userId = (await createAnnouncer(tracker, `member-${String(serial)}`)).id
  torrent = await uploadTorrent(uploader, `Torrent ${String(serial)}`)
})

async function write(changes: Partial<Delta>, counts: readonly Omit<CountedSwarm, 'name'>[] = []) {
  const at = changes.lastSeen ?? START
  const delta: Delta = {
    ...{ userId, torrentId: torrent.id, creditedUp: 0, creditedDown: 0, actualUp: 0, actualDown: 0 },
    ...{ seedSeconds: 10, left: 0, state: 'seeder', firstSeen: at, lastSeen: at },
    ...{ leeched: false, snatched: false, completedAt: undefined, ...changes },
  }
  const name = Buffer.from(torrent.infoHash, 'hex')
  return ledger.write([{ id: newId(), deltas: [delta], counts: counts.map((count) => ({ ...count, name })) }])
}

/** The physical location of a row, which every update changes. */
async function placesOf(): Promise<unknown> {
  const rows = await tracker.sql(
    `select (select ctid::text from users where id = $1) as user,
       (select ctid::text from torrent_stats where torrent_id = $2) as torrent`,
    [userId, torrent.id],
  )
  return rows[0]
}

async function stored(): Promise<unknown> {
  const rows = await tracker.sql(
    `select seeders, leechers, completed, extract(epoch from stats.last_seen_at)::integer as torrent_seen,
       extract(epoch from users.last_seen_at)::integer as user_seen, users.uploaded_actual::integer as uploaded
     from users, torrent_stats as stats where users.id = $1 and torrent_id = $2`,
    [userId, torrent.id],
  )
  return rows[0]
}

test('does not write recently seen users without transfers, nor their torrents', async () => {
  await write({})
  const before = await placesOf()
  await write({ lastSeen: START + 60 })
  expect(await placesOf()).toEqual(before)
  expect(await stored()).toMatchObject({ torrent_seen: START, user_seen: START })
  await expect(
    tracker.sql(
      'select seed_seconds, extract(epoch from last_seen_at)::integer as seen from user_torrents where user_id = $1',
      [userId],
    ),
  ).resolves.toEqual([{ seed_seconds: '20', seen: START + 60 }])
})

test('writes a last announce that is more than a minute later', async () => {
  await write({})
  await write({ lastSeen: START + 61 })
  expect(await stored()).toMatchObject({ torrent_seen: START + 61, user_seen: START + 61 })
})

test('writes a slightly later last announce together with transfers or counts', async () => {
  await write({})
  await write({ actualUp: 7, creditedUp: 7, lastSeen: START + 1 }, [{ complete: 1, incomplete: 0 }])
  expect(await stored()).toMatchObject({ uploaded: 7, user_seen: START + 1, torrent_seen: START + 1, seeders: 1 })
})

test('an older last announce does not replace a newer one', async () => {
  await write({})
  await write({ actualUp: 7, creditedUp: 7, lastSeen: START - 100 }, [{ complete: 1, incomplete: 0 }])
  expect(await stored()).toMatchObject({ uploaded: 7, user_seen: START, torrent_seen: START, seeders: 1 })
})

test('writes a snatch and the counts of the same swarm in one batch', async () => {
  await write({ leeched: true, left: 5 }, [{ complete: 0, incomplete: 1 }])
  const completed = await write({ completedAt: START + 2, lastSeen: START + 2 }, [{ complete: 1, incomplete: 0 }])
  expect(completed.map(({ infoHash }) => infoHash.toString('hex'))).toEqual([torrent.infoHash])
  expect(await stored()).toMatchObject({ completed: 1, seeders: 1, leechers: 0, torrent_seen: START + 2 })
})

test('does not write unchanged counts', async () => {
  await write({}, [{ complete: 2, incomplete: 3 }])
  const before = await placesOf()
  await write({ lastSeen: START + 1 }, [{ complete: 2, incomplete: 3 }])
  expect(await placesOf()).toEqual(before)
})

test('creates missing statistics of a torrent', async () => {
  await tracker.sql('delete from torrent_stats where torrent_id = $1', [torrent.id])
  await write({ leeched: true, snatched: true, completedAt: START }, [{ complete: 1, incomplete: 2 }])
  expect(await stored()).toMatchObject({ completed: 1, seeders: 1, leechers: 2, torrent_seen: START })
})

test('writes counts without an announce, and keeps the time of the last announce', async () => {
  await write({})
  const name = Buffer.from(torrent.infoHash, 'hex')
  await ledger.write([{ id: newId(), deltas: [], counts: [{ name, complete: 4, incomplete: 0 }] }])
  expect(await stored()).toMatchObject({ seeders: 4, torrent_seen: START })
})
