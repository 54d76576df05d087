import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type DurableServers, eventually, startDurableServers, TRIALS } from '@vault-and-tracker/dev-env'
import { createClient } from '../support/client.ts'
import { makeTorrent } from '../support/make-torrent.ts'
import { startRawUpload } from '../support/raw-upload.ts'
import { createTrackerDatabase } from '../support/tracker.ts'
import { startTrackerProcess, type TrackerProcess } from '../support/tracker-process.ts'
import { createTransfers, type Transfers } from '../support/transfers.ts'

/** How often each part is killed. */
const KILLS = TRIALS
const PARTS = ['service', 'postgres', 'redis'] as const
/** Longer than any machine needs. */
const LIMIT_MS = 120_000 + KILLS * PARTS.length * 60_000

let servers: DurableServers
let service: TrackerProcess
let transfers: Transfers

beforeAll(async () => {
  servers = await startDurableServers('kills')
  const database = await createTrackerDatabase(servers.postgres)
  transfers = await createTransfers({ database, redisUrl: servers.redis.url })
  service = await startTrackerProcess({
    DATABASE_URL: database.appUrl,
    REDIS_URL: servers.redis.url,
    ...{ ANNOUNCE_LIMIT: '0', MIN_ANNOUNCE_INTERVAL: '1', REST_WRITE_LIMIT: '0' },
  })
})
afterAll(async () => {
  await service.process.stop()
  await servers.stop()
})

/** Begins uploads and cuts them off at different bytes, some of them while a part is down. */
async function cutOffUploads(): Promise<void> {
  const file = makeTorrent('Cut off by the kills')
  const session = createClient(service.url)
  session.cookie = transfers.uploader.client.cookie
  const uploads = await Promise.allSettled(
    [1, 200, undefined].map(async (bytes) => {
      const upload = await startRawUpload(service.url, session, file)
      upload.send(bytes)
      await sleep(Math.random() * 100)
      upload.socket.destroy()
    }),
  )
  expect(uploads).toHaveLength(3)
}

async function kill(part: (typeof PARTS)[number]): Promise<void> {
  const killed = part === 'service' ? service.process : servers[part]
  await Promise.all([killed.kill(), cutOffUploads()])
  await sleep(Math.random() * 500)
  await cutOffUploads()
  await killed.restart()
  await eventually(async () => (await fetch(`${service.url}/ready`).catch(() => undefined))?.status === 200)
}

test(
  `after ${String(KILLS)} kills of each part every byte that was reported is credited once, and no slot is taken`,
  async () => {
    let isOver = false
    const running = transfers.run(service.url, () => isOver)
    for (let round = 0; round < KILLS; round += 1)
      for (const part of PARTS) {
        await sleep(500 + Math.random() * 1_500)
        await kill(part)
      }
    isOver = true
    await running
    const { reported, credited } = await transfers.settled()
    expect(credited).toEqual(reported)
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    expect(metrics).toMatch(/^tracker_uploads 0$/m)
  },
  LIMIT_MS,
)
