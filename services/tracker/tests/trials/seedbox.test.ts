import { Agent, request } from 'node:http'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { writeAccounting } from '../support/accounting.ts'
import { announceQuery } from '../support/announcer.ts'
import { createAnnouncer } from '../support/members.ts'
import { startTracker, type TestTracker } from '../support/tracker.ts'

const TORRENTS = 10_000
const MINUTES = 180
const MINUTE_MS = 60_000
/** Bytes per torrent and announce. */
const UPLOADED = 10_000_000

let tracker: TestTracker
let replica: TestTracker
const agent = new Agent({ keepAlive: true, maxSockets: 50 })

beforeAll(async () => {
  tracker = await startTracker({ ALLOW_PRIVATE_PEERS: 'true' })
  replica = await tracker.replica()
  await tracker.context.useCases.categories.seed()
  await tracker.sql(
    `insert into torrents (id, info_hash, name, category_id, size, file_count, search, created_at)
     select gen_random_uuid(), decode(lpad(to_hex(n), 40, '0'), 'hex'), 'torrent ' || n,
       (select id from categories limit 1), 1, 1, '', now()
     from generate_series(1, $1::int) as n`,
    [TORRENTS],
  )
  // Without statistics, the trigger of the next statement would read all torrents for each row.
  await tracker.sql('analyze torrents')
  await tracker.sql('insert into torrent_stats (torrent_id) select id from torrents on conflict do nothing')
})
afterAll(async () => {
  agent.destroy()
  await replica.stop()
  await tracker.stop()
})

let requests = 0

/** Requests a target of the two processes in turn, over one of a few open connections. @returns the body */
function get(target: string): Promise<string> {
  requests += 1
  const { hostname, port } = new URL(requests % 2 === 0 ? replica.url : tracker.url)
  return new Promise((resolve, reject) => {
    const message = request({ hostname, port, path: target, agent }, (response) => {
      let text = ''
      response.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve(text))
    })
    message.on('error', reject).end()
  })
}

test('10,000 torrents of one user see no failure after five minutes, and every transfer is credited', async () => {
  for (const each of [tracker, replica]) each.holdClock()
  const { id, passkey } = await createAnnouncer(tracker, 'seedbox')
  const torrents = Array.from({ length: TORRENTS }, (_, i) => ({
    infoHash: (i + 1).toString(16).padStart(40, '0'),
    dueMs: tracker.now(),
    accepted: 0,
  }))
  const counts = { failures: Array<number>(MINUTES).fill(0), withPeers: Array<number>(MINUTES).fill(0) }

  const announceOne = async (torrent: (typeof torrents)[number], minute: number): Promise<void> => {
    const { infoHash, accepted } = torrent
    const event = accepted === 0 ? 'started' : undefined
    const query = announceQuery({ infoHash, left: 0, uploaded: accepted * UPLOADED, event })
    const reply = await get(`/announce?passkey=${passkey}&${query}`)
    torrent.dueMs = tracker.now() + Number(/8:intervali(\d+)e/.exec(reply)?.[1]) * 1000
    if (reply.includes('failure reason')) counts.failures[minute] = (counts.failures[minute] ?? 0) + 1
    else torrent.accepted += 1
    if (!/failure|warning/.test(reply)) counts.withPeers[minute] = (counts.withPeers[minute] ?? 0) + 1
  }
  for (let minute = 0; minute < MINUTES; minute++) {
    const due = torrents.filter(({ dueMs }) => dueMs < tracker.now() + MINUTE_MS)
    await Promise.all(due.map((torrent) => announceOne(torrent, minute)))
    for (const each of [tracker, replica]) each.advance(MINUTE_MS)
  }

  expect(counts.failures.findLastIndex((count) => count > 0)).toBeLessThan(5)
  expect(Math.max(...counts.withPeers)).toBe(200)
  expect(Math.min(...torrents.map(({ accepted }) => accepted))).toBeGreaterThan(2)
  await writeAccounting(tracker)
  // The first announce of a client credits nothing.
  const credited = torrents.reduce((sum, { accepted }) => sum + (accepted - 1) * UPLOADED, 0)
  const rows = await tracker.sql('select uploaded from users where id = $1', [id])
  expect(rows).toEqual([{ uploaded: String(credited) }])
})
