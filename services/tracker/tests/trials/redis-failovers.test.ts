import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  eventually,
  removeTemporaryFolder,
  type SentinelGroup,
  startRedisWithSentinels,
  type TestDatabase,
  TRIALS,
  temporaryFolder,
} from '@vault-and-tracker/dev-env'
import { createTrackerDatabase } from '../support/tracker.ts'
import { startTrackerProcess, type TrackerProcess } from '../support/tracker-process.ts'
import { createTransfers, type Transfers } from '../support/transfers.ts'

/** How often the master fails in each way. */
const FAILOVERS = Math.max(1, Math.round(TRIALS / 5))
/** As in docs/compatibility.md. */
const SETTINGS = ['min-replicas-to-write 1', 'min-replicas-max-lag 2']

const folder = temporaryFolder('redis-failovers')
let group: SentinelGroup
let database: TestDatabase
let service: TrackerProcess
let transfers: Transfers

beforeAll(async () => {
  group = await startRedisWithSentinels({ folder, replicas: 2, durable: true, settings: SETTINGS })
  database = await createTrackerDatabase()
  transfers = await createTransfers({ database, redisUrl: `${group.url}/1` })
  service = await startTrackerProcess({
    DATABASE_URL: database.appUrl,
    ...{ REDIS_URL: `${group.url}/1`, SWARM_REDIS_URL: `${group.url}/1` },
    ...{ ANNOUNCE_LIMIT: '0', MIN_ANNOUNCE_INTERVAL: '1' },
  })
})
afterAll(async () => {
  await service.process.stop()
  await database.drop()
  await group.stop()
  removeTemporaryFolder(folder)
})

test(`after ${String(FAILOVERS)} failovers of each kind, every byte that was reported is credited once`, async () => {
  for (const fault of ['killed', 'frozen', 'replaced'] as const)
    for (let round = 0; round < FAILOVERS; round += 1) {
      let isOver = false
      const outcomes = { accepted: 0, refused: 0 }
      let lastAcceptedAt = Date.now()
      let longestGapMs = 0
      const running = transfers.run(
        service.url,
        () => isOver,
        (isAccepted) => {
          outcomes[isAccepted ? 'accepted' : 'refused'] += 1
          if (!isAccepted) return
          longestGapMs = Math.max(longestGapMs, Date.now() - lastAcceptedAt)
          lastAcceptedAt = Date.now()
        },
      )
      await sleep(3_000)
      const old = await group.master()
      if (fault === 'killed') await old.kill()
      else if (fault === 'frozen') old.pause()
      else await group.failOver()
      await eventually(async () => (await group.master()) !== old)
      await sleep(6_000)
      if (fault === 'killed') await old.restart()
      else if (fault === 'frozen') old.resume()
      await sleep(3_000)
      isOver = true
      await running
      process.stdout.write(`${JSON.stringify({ fault, longestGapMs, ...outcomes })}\n`)
      const { reported, credited } = await transfers.settled()
      expect(credited).toEqual(reported)
      await eventually(async () => (await fetch(`${service.url}/ready`)).status === 200)
      await group.whole()
    }
}, 900_000)
