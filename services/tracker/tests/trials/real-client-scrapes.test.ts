import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  eventually,
  freePort,
  removeTemporaryFolder,
  requireProgram,
  temporaryFolder,
} from '@vault-and-tracker/dev-env'
import { announce } from '../support/announcer.ts'
import { type Daemon, startQbittorrent, startTransmission } from '../support/daemons.ts'
import { createMember, type TestMember, uploadTorrent } from '../support/members.ts'
import { metricOf } from '../support/metrics.ts'
import { startTracker, type TestTracker } from '../support/tracker.ts'

// Clients treat the counts in an announce reply as a scrape. So these tests use torrents that the client does not announce,
// and count the scraped torrents. Of the clients in Debian 12, aria2 1.36 cannot scrape over HTTP.

let tracker: TestTracker
let folder: string

beforeAll(async () => {
  const port = await freePort()
  folder = temporaryFolder('scrapes')
  tracker = await startTracker({ PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${String(port)}` })
  await tracker.context.useCases.categories.seed()
})
afterAll(async () => {
  await tracker.stop()
  removeTemporaryFolder(folder)
})

async function expectNoScrapeFailed(): Promise<void> {
  const lines = (await tracker.client().get('/metrics')).text
    .split('\n')
    .filter((line) => line.startsWith('tracker_failures_total{action="scrape"'))
  expect(lines.length).toBeGreaterThan(0)
  expect(lines.filter((line) => !line.endsWith(' 0'))).toEqual([])
}

/** A torrent with one seeder, as a member downloads it. */
async function seededTorrent(member: TestMember, name: string): Promise<{ torrent: Buffer; infoHash: string }> {
  const { id, infoHash } = await uploadTorrent(member, name)
  await announce(tracker.url, member.passkey, { infoHash, left: 0, event: 'started' })
  return { infoHash, torrent: (await member.client.get(`/api/torrents/${id}/download`)).bytes }
}

test("Transmission's own tool scrapes the tracker of a .torrent file", async () => {
  const { torrent } = await seededTorrent(await createMember(tracker, 'shower'), 'shown.bin')
  const file = join(folder, 'shown.torrent')
  writeFileSync(file, torrent)
  const before = await metricOf(tracker, 'tracker_scraped_torrents_total')
  const { stdout } = await promisify(execFile)(await requireProgram('transmission-show'), ['--scrape', file])
  expect(stdout).toMatch(/1 seeders, 0 leechers/)
  expect(await metricOf(tracker, 'tracker_scraped_torrents_total')).toBe(before + 1)
  await expectNoScrapeFailed()
})

/** Far more than three minutes. Clients are polled slowly, because answering costs them more than anything else they do. */
const UNTIL_SCRAPED = [500_000, 1_000] as const

/** Adds torrents with one seeder each, and waits until the client knows the seeder of one that it did not announce. */
async function expectScrape(client: Daemon, torrents: number, state: 'started' | 'stopped'): Promise<void> {
  const member = await createMember(tracker, `member-of-${String(torrents)}`)
  const before = await metricOf(tracker, 'tracker_scraped_torrents_total')
  const infoHashes: string[] = []
  for (let i = 0; i < torrents; i++) {
    const { torrent, infoHash } = await seededTorrent(member, `${String(i)}-of-${String(torrents)}.bin`)
    await client.add(torrent, state)
    infoHashes.push(infoHash)
  }
  await eventually(
    async () => {
      const states = await Promise.all(infoHashes.map((infoHash) => client.trackerState(infoHash)))
      return states.some(({ announced, seeders }) => !announced && seeders === 1)
    },
    ...UNTIL_SCRAPED,
  )
  expect(await metricOf(tracker, 'tracker_scraped_torrents_total')).toBeGreaterThan(before)
  await expectNoScrapeFailed()
}

/** Clients scrape in their own time, some of them after three minutes. */
const PATIENCE_MS = 600_000

test(
  'Transmission scrapes torrents that are stopped',
  async () => {
    const transmission = await startTransmission(join(folder, 'transmission'))
    try {
      // Version 3 scrapes each at a random time within three minutes, so of many the first is scraped soon.
      await expectScrape(transmission, 40, 'stopped')
    } finally {
      await transmission.stop()
    }
  },
  PATIENCE_MS,
)

test(
  'qBittorrent scrapes a queued torrent',
  async () => {
    const qbittorrent = await startQbittorrent(join(folder, 'qbittorrent'), { active: 1 })
    try {
      // libtorrent scrapes one of them three minutes after its start, and another every fifteen minutes; stopped ones never.
      await expectScrape(qbittorrent, 3, 'started')
    } finally {
      await qbittorrent.stop()
    }
  },
  PATIENCE_MS,
)
