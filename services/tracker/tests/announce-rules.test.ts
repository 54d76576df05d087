import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { FAILURES, type FailureName, WARNINGS } from '@vault-and-tracker/bencode-tracker'
import { Redis } from 'ioredis'
import { RULES } from '../src/announce/rules.ts'
import { createAnnounceRules } from './support/announce-rules.ts'
import { announce, announceQuery, percentBytes, rawGet } from './support/announcer.ts'
import { tellOfChange, untilHeard } from './support/invalidations.ts'
import { createMember } from './support/members.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let redis: Redis
const { someone, someTorrent, expectFailure, expectWarning } = createAnnounceRules(() => tracker)

beforeAll(async () => {
  tracker = await startTracker({ ALLOW_PRIVATE_PEERS: 'true' })
  tracker.holdClock()
  await tracker.context.useCases.categories.seed()
  redis = new Redis(tracker.redisUrl)
})
afterAll(async () => {
  redis.disconnect()
  await tracker.stop()
})

const HASH = 'ab'.repeat(20)

test('a leecher finds the seeder, and the seeder the leecher', async () => {
  const [alice, bob] = [await someone(), await someone()]
  const { infoHash } = await someTorrent()
  const seeder = await announce(tracker.url, alice.passkey, { infoHash, port: 7001, left: 0, event: 'started' })
  expect(seeder.status).toBe(200)
  expect(seeder.fields).toMatchObject({ complete: 1, incomplete: 0, downloaded: 0, 'min interval': 900 })
  expect(seeder.fields['external ip']).toBe('\x7f\0\0\x01')
  expect(seeder.peers).toEqual([])

  const leecher = await announce(tracker.url, bob.passkey, { infoHash, port: 7002, event: 'started' })
  expect(leecher.peers).toEqual(['127.0.0.1:7001'])
  const again = await announce(tracker.url, alice.passkey, { infoHash, port: 7001, left: 0 })
  expect(again.peers).toEqual(['127.0.0.1:7002'])

  const scraped = await rawGet(
    tracker.url,
    `/scrape?passkey=${bob.passkey}&info_hash=${percentBytes(Buffer.from(infoHash, 'hex'))}`,
  )
  expect(scraped.bytes.toString('latin1')).toContain('d8:completei1e10:downloadedi0e11:downloadersi1e10:incompletei1ee')
})

test.each<[FailureName, string]>([
  ['missing_info_hash', '/announce'],
  ['missing_peer_id', `/announce?info_hash=${percentBytes(Buffer.from(HASH, 'hex'))}`],
  ['invalid_info_hash', '/announce?info_hash=abc'],
  ['several_info_hashes', `/announce?${announceQuery({ infoHash: HASH })}&info_hash=${'b'.repeat(20)}`],
  ['repeated_parameter', `/announce?${announceQuery({ infoHash: HASH })}&port=7000`],
  ['invalid_port', `/announce?${announceQuery({ infoHash: HASH, port: 65_536 })}`],
  ['invalid_left', `/announce?${announceQuery({ infoHash: HASH, left: -1 })}`],
  ['invalid_event', `/announce?${announceQuery({ infoHash: HASH, event: 'born' })}`],
  ['query_too_long', `/announce?x=${'a'.repeat(5000)}`],
  ['missing_passkey', `/announce?${announceQuery({ infoHash: HASH })}`],
  ['invalid_passkey', `/announce?passkey=short&${announceQuery({ infoHash: HASH })}`],
  ['invalid_passkey', '/announce/short'],
  ['unknown_passkey', `/announce/${'e'.repeat(40)}?${announceQuery({ infoHash: HASH })}`],
])('%s refuses the announce', async (name, target) => {
  await expectFailure(name, () => rawGet(tracker.url, target))
})

test.each<[FailureName, string]>([
  ['missing_passkey', `/scrape?info_hash=${percentBytes(Buffer.from(HASH, 'hex'))}`],
  ['unknown_passkey', `/scrape/${'e'.repeat(40)}?info_hash=${percentBytes(Buffer.from(HASH, 'hex'))}`],
  ['invalid_info_hash', '/scrape?info_hash=abc'],
  ['too_many_info_hashes', `/scrape?${Array.from({ length: 75 }, () => `info_hash=${'c'.repeat(20)}`).join('&')}`],
])('%s refuses the scrape', async (name, target) => {
  await expectFailure(name, () => rawGet(tracker.url, target), 'scrape')
})

test('scrape_without_info_hash refuses a full scrape', async () => {
  const { passkey } = await someone()
  await expectFailure('scrape_without_info_hash', () => rawGet(tracker.url, `/scrape/${passkey}`), 'scrape')
})

test.each<['suspended' | 'banned', FailureName]>([
  ['suspended', 'account_suspended'],
  ['banned', 'account_banned'],
])('an account that is %s is refused as soon as the change arrives, and accepted again later', async (state, name) => {
  const { id, passkey } = await someone()
  const { infoHash } = await someTorrent()
  const act = () => announce(tracker.url, passkey, { infoHash, event: 'started' })
  expect((await act()).fields['failure reason']).toBeUndefined()
  const change = async (to: string) => {
    await tracker.sql('update users set state = $1 where id = $2', [to, id])
    await tellOfChange(redis, { kind: 'user', passkey })
  }
  await change(state)
  await expectFailure(name, act)
  await expectFailure(name, () => rawGet(tracker.url, `/scrape/${passkey}?info_hash=${'d'.repeat(20)}`), 'scrape')
  await change('active')
  expect((await act()).fields['failure reason']).toBeUndefined()
})

test('after a reset, the old passkey fails and the new one works immediately', async () => {
  const member = await createMember(tracker, 'resetter')
  const { infoHash } = await someTorrent()
  expect((await announce(tracker.url, member.passkey, { infoHash })).fields['failure reason']).toBeUndefined()
  const reset = await member.client.post('/api/user/passkey')
  expect(reset.status).toBe(200)
  await untilHeard(redis)
  await expectFailure('unknown_passkey', () => announce(tracker.url, member.passkey, { infoHash }))
  expect((await announce(tracker.url, reset.member('passkey'), { infoHash })).fields['failure reason']).toBeUndefined()
})

test('users without permission to download may seed and stop', async () => {
  const { id, passkey } = await someone()
  await tracker.sql('update users set can_download = false where id = $1', [id])
  const { infoHash } = await someTorrent()
  await expectFailure('downloads_disabled', () => announce(tracker.url, passkey, { infoHash, left: 5 }))
  expect((await announce(tracker.url, passkey, { infoHash, left: 0 })).fields['complete']).toBe(1)
  expect((await announce(tracker.url, passkey, { infoHash, left: 5, event: 'stopped' })).fields['complete']).toBe(0)
})

test('an unknown torrent is refused as unregistered until it is uploaded', async () => {
  const { passkey } = await someone()
  await expectFailure('unregistered_torrent', () => announce(tracker.url, passkey, { infoHash: HASH }))
  const { infoHash } = await someTorrent()
  expect((await announce(tracker.url, passkey, { infoHash })).fields['failure reason']).toBeUndefined()
})

test('a deleted torrent shows its reason for thirty days', async () => {
  const { passkey } = await someone()
  const { id, infoHash } = await someTorrent()
  const remove = (ago: string) =>
    tracker.sql(`update torrents set deleted_at = now() - $1::interval, delete_reason = 'Dupe' where id = $2`, [
      ago,
      id,
    ])
  await remove('29 days')
  const reply = await expectFailure('deleted_torrent', () => announce(tracker.url, passkey, { infoHash }))
  expect(reply.fields['failure reason']).toBe('Unregistered torrent: Dupe')
  await remove('31 days')
  await tellOfChange(redis, { kind: 'torrent', infoHash })
  await expectFailure('unregistered_torrent', () => announce(tracker.url, passkey, { infoHash }))
})

test('a rejected torrent is refused, and a pending one receives a warning and a short interval', async () => {
  const { passkey } = await someone()
  const { id, infoHash } = await someTorrent()
  await tracker.sql("update torrents set state = 'pending' where id = $1", [id])
  const pending = await expectWarning('pending_moderation', () => announce(tracker.url, passkey, { infoHash }))
  expect(pending.fields).toMatchObject({ interval: 30, 'min interval': 30 })
  await tracker.sql("update torrents set state = 'rejected', state_reason = 'Fake' where id = $1", [id])
  await tellOfChange(redis, { kind: 'torrent', infoHash })
  const reply = await expectFailure('rejected_torrent', () => announce(tracker.url, passkey, { infoHash }))
  expect(reply.fields['failure reason']).toBe('This torrent was rejected by the moderators: Fake')
})

test('a scrape leaves out deleted and rejected torrents, even with peers in their swarms', async () => {
  const { passkey } = await someone()
  const torrents = [await someTorrent(), await someTorrent(), await someTorrent(), await someTorrent()] as const
  const [approved, pending, rejected, deleted] = torrents
  for (const { infoHash } of torrents) await announce(tracker.url, passkey, { infoHash, left: 0 })
  const query = torrents.map(({ infoHash }) => `info_hash=${percentBytes(Buffer.from(infoHash, 'hex'))}`).join('&')
  const scraped = async () => {
    const text = (await rawGet(tracker.url, `/scrape/${passkey}?${query}`)).bytes.toString('latin1')
    return [...text.matchAll(/20:([\s\S]{20})d8:completei1e/g)].map((match) =>
      Buffer.from(match[1] ?? '', 'latin1').toString('hex'),
    )
  }
  expect(await scraped()).toEqual(torrents.map(({ infoHash }) => infoHash).sort())
  await tracker.sql("update torrents set state = 'pending' where id = $1", [pending.id])
  await tracker.sql("update torrents set state = 'rejected', state_reason = 'Fake' where id = $1", [rejected.id])
  await tracker.sql("update torrents set deleted_at = now(), delete_reason = 'Dupe' where id = $1", [deleted.id])
  for (const { infoHash } of torrents) await tellOfChange(redis, { kind: 'torrent', infoHash })
  expect(await scraped()).toEqual([approved.infoHash, pending.infoHash].sort())
})

test('all forms of the passkey lead to the same announce and scrape', async () => {
  const { passkey } = await someone()
  const { infoHash } = await someTorrent()
  const query = announceQuery({ infoHash, left: 0 })
  const hash = `info_hash=${percentBytes(Buffer.from(infoHash, 'hex'))}`
  for (const target of [
    `/announce?passkey=${passkey}&${query}`,
    `/announce?passkey=${passkey}?${query}`,
    `/announce/${passkey}?${query}`,
    `/${passkey}/announce?${query}`,
    `/announce?${query}&passkey=${passkey.toUpperCase()}`,
  ])
    expect((await rawGet(tracker.url, target)).fields['complete']).toBe(1)
  for (const target of [
    `/scrape?passkey=${passkey}&${hash}`,
    `/scrape?passkey=${passkey}?${hash}`,
    `/scrape/${passkey}?${hash}`,
    `/${passkey}/scrape?${hash}`,
  ])
    expect((await rawGet(tracker.url, target)).bytes.toString('latin1')).toContain('8:completei1e')
})

test('no passkey is ever logged', async () => {
  const { passkey } = await someone()
  await rawGet(tracker.url, `/announce/${passkey}?info_hash=%zz`)
  await announce(tracker.url, passkey, { infoHash: HASH })
  expect(tracker.logged()).not.toContain(passkey)
  expect((await tracker.client().get('/metrics')).text).not.toContain(passkey)
})

test('the operator page has a line for every rule', () => {
  const page = readFileSync(new URL('../../../docs/tracker-announce.md', import.meta.url), 'utf8')
  const groups = ['invalid_', 'missing_'].filter((group) => page.includes(`\`${group}*\``))
  const names = [...Object.keys(FAILURES), ...Object.keys(WARNINGS)].filter(
    (name) => !groups.some((group) => name.startsWith(group)),
  )
  for (const name of names) expect(page).toContain(`\`${name}\``)
})

test('the operator page lists the rules in the order in which they are applied', () => {
  const page = readFileSync(new URL('../../../docs/tracker-announce.md', import.meta.url), 'utf8')
  const [, table = ''] = /\n### Rules of an announce\n([^]*?)\n#/.exec(page) ?? []
  const listed = [...table.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = '']) => cell.match(/\w+/g) ?? [])
  expect(listed).toEqual(RULES.flatMap(({ failures }) => failures))
})
