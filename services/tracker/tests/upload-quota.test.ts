import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Client } from './support/client.ts'
import { makeTorrent } from './support/make-torrent.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker

const QUOTA = 2_000

beforeAll(async () => {
  tracker = await startTracker({ UPLOAD_BYTES_PER_DAY: String(QUOTA) })
  tracker.holdClock()
  await tracker.context.useCases.categories.seed()
})
afterAll(() => tracker.stop())

let files = 0
const upload = (client: Client) => client.upload(makeTorrent(`file ${String(++files)}`), { category: 'other' })

async function statusesOf(count: number, send: () => Promise<{ status: number }>): Promise<number[]> {
  const statuses = []
  for (let i = 0; i < count; i++) statuses.push((await send()).status)
  return statuses
}

async function storedBy(username: string): Promise<number> {
  const [row] = await tracker.sql<{ bytes: number }>(
    `select coalesce(sum(length(info)), 0)::int as bytes from torrent_files
      join torrents on torrents.id = torrent_id join users on users.id = uploader_id where username = $1`,
    [username],
  )
  return row?.bytes ?? 0
}

test("a member's daily quota includes deleted and concurrent uploads", async () => {
  const member = await tracker.signedIn('member')
  const first = await upload(member)
  expect(first.status).toBe(201)
  await member.delete(`/api/torrents/${first.member('id')}`)
  // Another file for each, and no more at once than a member may upload.
  const refused = new Set<string>()
  for (let round = 0; round < 8; round++)
    for (const answer of await Promise.all([upload(member), upload(member), upload(member)]))
      if (answer.status !== 201) refused.add(`${String(answer.status)} ${answer.member('error', 'code')}`)
  expect([...refused]).toEqual(['413 PAYLOAD_TOO_LARGE'])
  const stored = await storedBy('member')
  expect(stored).toBeLessThanOrEqual(QUOTA)
  expect(stored).toBeGreaterThan(QUOTA - 200)
  const other = await tracker.signedIn('other')
  expect((await upload(other)).status).toBe(201)
  tracker.advance(24 * 3_600_000)
  expect((await upload(member)).status).toBe(201)
})

test('failed uploads do not count, and staff have no quota', async () => {
  const [member, staff] = [await tracker.signedIn('repeats'), await tracker.signedIn('staff', 'moderator')]
  const file = makeTorrent('the same')
  const same = () => member.upload(file, { category: 'other' })
  expect(await statusesOf(25, same)).toEqual([201, ...Array<number>(24).fill(409)])
  expect((await upload(member)).status).toBe(201)
  expect(await statusesOf(25, () => upload(staff))).toEqual(Array<number>(25).fill(201))
})
