import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually, randomFrom, TRIALS } from '@vault-and-tracker/dev-env'
import { writeAccounting } from './support/accounting.ts'
import { announce, percentBytes, rawGet } from './support/announcer.ts'
import { createAnnouncer, createMember, type TestMember, uploadTorrent } from './support/members.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

const USERS = 3
const CLIENTS = 2
const STEPS = 150

let tracker: TestTracker
let uploader: TestMember
const users: { passkey: string }[] = []

beforeAll(async () => {
  tracker = await startTracker({ ALLOW_PRIVATE_PEERS: 'true', ANNOUNCE_LIMIT: '0' })
  await tracker.context.useCases.categories.seed()
  uploader = await createMember(tracker, 'uploader')
  for (let i = 0; i < USERS; i++) users.push(await createAnnouncer(tracker, `user-${String(i)}`))
})
afterAll(() => tracker.stop())

/** The counts of a torrent in the announce, the scrape and the REST API. */
async function countsOf({ id, infoHash }: { id: string; infoHash: string }): Promise<readonly unknown[]> {
  const { passkey } = uploader
  // A stop of an unknown peer, which reads the counts without changing them.
  const stopped = await announce(tracker.url, passkey, { infoHash, event: 'stopped' })
  const query = `info_hash=${percentBytes(Buffer.from(infoHash, 'hex'))}`
  const scraped = (await rawGet(tracker.url, `/scrape/${passkey}?${query}`)).bytes.toString('latin1')
  const torrent = await uploader.client.get(`/api/torrents/${id}`)
  return [
    stopped.fields['downloaded'],
    Number(/10:downloadedi(\d+)e/.exec(scraped)?.[1]),
    (torrent.json as { completed: number }).completed,
  ]
}

test.each(Array.from({ length: TRIALS }, (_, i) => i + 1))(
  'announce, scrape and REST agree on the snatches of two torrents, seed %i',
  async (seed) => {
    const random = randomFrom(seed)
    const pick = (below: number): number => Math.floor(random() * below)
    const torrents = [
      await uploadTorrent(uploader, `Model torrent ${String(seed)} a`),
      await uploadTorrent(uploader, `Model torrent ${String(seed)} b`),
    ]
    /** Who had something left, and who completed after that, as plainly as it can be said. */
    const leeched = new Set<string>()
    const snatched = new Set<string>()
    let accepted = 0
    const check = async (): Promise<void> => {
      await writeAccounting(tracker)
      for (const [t, torrent] of torrents.entries()) {
        const count = [...snatched].filter((each) => each.startsWith(`${String(t)} `)).length
        await eventually(async () => (await countsOf(torrent)).every((said) => said === count), 10_000).catch(
          () => undefined,
        )
        expect(await countsOf(torrent)).toEqual([count, count, count])
      }
    }
    for (let step = 0; step < STEPS; step++) {
      const [t, u, c] = [pick(torrents.length), pick(USERS), pick(CLIENTS)]
      const infoHash = torrents[t]?.infoHash ?? ''
      const who = `${String(t)} ${String(u)}`
      const event = [undefined, 'started', 'completed', 'completed', 'stopped', 'paused'][pick(6)]
      const left = random() < 0.5 ? 0 : 1000
      tracker.advance(pick(4) === 0 ? pick(8_000_000) : pick(60_000))
      const peerId = `-MM0001-client-${String(u)}-${String(c)}-x`
      const reply = await announce(tracker.url, users[u]?.passkey, { infoHash, peerId, event, left, port: 7000 + u })
      expect(reply.fields['failure reason']).toBeUndefined()
      if (reply.fields['warning message'] === undefined) accepted += 1
      if (left > 0 && event !== 'stopped') leeched.add(who)
      if (event === 'completed' && left === 0 && leeched.has(who)) snatched.add(who)
      if (random() < 0.08) await check()
    }
    await check()
    expect(accepted).toBeGreaterThan(STEPS / 2)
    expect(snatched.size).toBeGreaterThan(0)
  },
)
