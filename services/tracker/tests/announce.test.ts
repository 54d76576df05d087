import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { announce, percentBytes, rawGet } from './support/announcer.ts'
import { createMember, type TestMember, uploadTorrent } from './support/members.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let alice: TestMember
let bob: TestMember
let serial = 0

beforeAll(async () => {
  tracker = await startTracker({ ALLOW_PRIVATE_PEERS: 'true' })
  await tracker.context.useCases.categories.seed()
  alice = await createMember(tracker, 'alice')
  bob = await createMember(tracker, 'bob')
})
afterAll(() => tracker.stop())

async function torrent(): Promise<string> {
  serial += 1
  return (await uploadTorrent(alice, `Torrent number ${String(serial)}`)).infoHash
}

test('a leecher finds the seeder, and the seeder the leecher', async () => {
  const infoHash = await torrent()
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

test('an unknown passkey is a failure with status 200', async () => {
  const reply = await announce(tracker.url, 'f'.repeat(40), { infoHash: await torrent() })
  expect(reply.status).toBe(200)
  expect(reply.fields['failure reason']).toBe('Unknown passkey: download the .torrent file again')
  expect(reply.fields['retry in']).toBe('never')
})
