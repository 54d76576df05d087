import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually, TRIALS } from '@vault-and-tracker/dev-env'
import { writeAccounting } from './support/accounting.ts'
import { announce, percentBytes, type Reply, rawGet } from './support/announcer.ts'
import { createAnnouncer, createMember, type TestMember, uploadTorrent } from './support/members.ts'
import { withRowLocked } from './support/row-lock.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let replica: TestTracker
let admin: TestMember
let uploader: TestMember
let other: { id: string; passkey: string }
const torrents: { id: string; infoHash: string }[] = []

beforeAll(async () => {
  tracker = await startTracker({ ALLOW_PRIVATE_PEERS: 'true' })
  replica = await tracker.replica()
  await tracker.context.useCases.categories.seed()
  uploader = await createMember(tracker, 'uploader')
  admin = await createMember(tracker, 'admin', 'admin')
  other = await createAnnouncer(tracker, 'other')
  for (let i = 0; i < 6; i++) torrents.push(await uploadTorrent(uploader, `Torrent of those who go ${String(i)}`))
})
afterAll(async () => {
  await replica.stop()
  await tracker.stop()
})

/** How many seeders each of the torrents has, as another member sees it. */
async function seeders(): Promise<number[]> {
  const query = torrents.map(({ infoHash }) => `info_hash=${percentBytes(Buffer.from(infoHash, 'hex'))}`).join('&')
  const scraped = (await rawGet(replica.url, `/scrape/${other.passkey}?${query}`)).bytes.toString('latin1')
  return [...scraped.matchAll(/8:completei(\d+)e/g)].map(([, count]) => Number(count))
}

const seedOn = (at: TestTracker, passkey: string, i: number, uploaded: number, event?: string): Promise<Reply> =>
  announce(at.url, passkey, { infoHash: torrents[i]?.infoHash ?? '', left: 0, port: 7001 + i, uploaded, event })

/** Seeds all torrents on both replicas: some of it is in the database, some still in Redis. */
async function seedAll(passkey: string): Promise<void> {
  for (const i of [0, 1, 2]) await seedOn(tracker, passkey, i, 0, 'started')
  await writeAccounting(tracker)
  for (const i of [3, 4, 5]) await seedOn(replica, passkey, i, 0, 'started')
  expect(await seeders()).toEqual([1, 1, 1, 1, 1, 1])
}

const areGone = async (): Promise<boolean> => (await seeders()).every((count) => count === 0)

test.each(['banned', 'suspended'])(
  'the peers of a member who is %s leave the swarms, and their stop is accepted and credited',
  async (state) => {
    const member = await createMember(tracker, `member-${state}`)
    await seedAll(member.passkey)
    const change = await admin.client.patch(`/api/admin/users/${member.id}`, { state })
    expect(change.status).toBe(200)
    await eventually(areGone)

    const refused = await seedOn(replica, member.passkey, 0, 900)
    expect(refused.fields['failure reason']).toMatch(new RegExp(state))
    for (const i of torrents.keys()) {
      const stopped = await seedOn(i % 2 === 0 ? tracker : replica, member.passkey, i, 1000, 'stopped')
      expect([stopped.status, stopped.fields['failure reason']]).toEqual([200, undefined])
    }
    expect(await areGone()).toBe(true)
    await writeAccounting(tracker)
    await expect(tracker.sql('select uploaded from users where id = $1', [member.id])).resolves.toEqual([
      { uploaded: '6000' },
    ])
  },
)

test("a passkey reset removes the user's peers, and the old passkey can still stop", async () => {
  const member = await createMember(tracker, 'member-reset')
  await seedAll(member.passkey)
  expect((await member.client.post('/api/user/passkey')).status).toBe(200)
  await eventually(areGone)
  expect((await seedOn(replica, member.passkey, 0, 900)).fields['failure reason']).toMatch(/^Unknown passkey/)
  const stopped = await seedOn(replica, member.passkey, 0, 1000, 'stopped')
  expect([stopped.status, stopped.fields['failure reason'], stopped.peers]).toEqual([200, undefined, []])
  const nobody = await announce(tracker.url, '0'.repeat(40), {
    infoHash: torrents[0]?.infoHash ?? '',
    event: 'stopped',
  })
  expect(nobody.fields['failure reason']).toBeUndefined()
})

test('a banned member can only sign out', async () => {
  const member = await createMember(tracker, 'member-leaving')
  await admin.client.patch(`/api/admin/users/${member.id}`, { state: 'banned' })
  expect((await member.client.get('/api/user/me')).status).toBe(403)
  expect((await member.client.post('/api/auth/logout')).status).toBe(204)
  expect((await member.client.get('/api/user/me')).status).toBe(401)
  expect((await tracker.client().post('/api/auth/logout')).status).toBe(401)
})

test('the last active administrator remains, even if two demote each other concurrently', async () => {
  for (let round = 0; round < 4 * TRIALS; round++) {
    const name = `second-${String(round)}`
    const client = await tracker.signedIn(name, 'admin')
    const id = (await client.get('/api/user/me')).member('id')
    const change = round % 2 === 0 ? { role: 'member' } : { state: 'suspended' }
    const answers = await Promise.all([
      client.patch(`/api/admin/users/${admin.id}`, change),
      admin.client.patch(`/api/admin/users/${id}`, change),
    ])
    const left = await tracker.sql("select id from users where role = 'admin' and state = 'active'")
    expect(left).toHaveLength(1)
    // The second request was refused, because its target is the last administrator or its sender no longer is one.
    expect(answers.map(({ status }) => status).sort()).toEqual([200, expect.any(Number)])
    for (const { status } of answers) expect([200, 403, 409]).toContain(status)
    await tracker.sql("update users set role = 'admin', state = 'active' where id = $1", [admin.id])
    await tracker.sql("update users set role = 'member' where id = $1", [id])
  }
  const { accounts } = tracker.context.useCases
  const others = await tracker.sql<{ id: string }>("select id from users where role = 'admin' and id <> $1", [admin.id])
  expect(others).toEqual([])
  await expect(accounts.change(admin.id, { role: 'moderator' })).rejects.toMatchObject({ code: 'CONFLICT' })
  await expect(accounts.change(admin.id, { state: 'banned' })).rejects.toMatchObject({ code: 'CONFLICT' })
  await expect(accounts.change(admin.id, { invitesLeft: 3 })).resolves.toMatchObject({ role: 'admin' })
})

test('while a change of an administrator waits, rows that refer to the other administrators can be written', async () => {
  const judges = [admin, await createMember(tracker, 'judge', 'admin')].toSorted((a, b) => (a.id < b.id ? -1 : 1))
  // Administrators are locked in the order of their ids, so the first one is locked while the last one is waited for.
  const [first, last] = [judges[0] as TestMember, judges[1] as TestMember]
  const [changed] = await withRowLocked(tracker, last.username, async (waiting) => {
    const change = first.client.patch(`/api/admin/users/${last.id}`, { state: 'suspended' })
    await waiting(1)
    await tracker.sql('select from users where id = $1 for key share nowait', [first.id])
    return [change]
  })
  expect(changed?.status).toBe(200)
})
