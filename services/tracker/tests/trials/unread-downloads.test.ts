import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { askUnread, memoryOf } from '@vault-and-tracker/dev-env'
import { createClient } from '../support/client.ts'
import { withPieceLayers } from '../support/costly-torrents.ts'
import { startTracker, type TestTracker } from '../support/tracker.ts'
import { startTrackerProcess, type TrackerProcess } from '../support/tracker-process.ts'

/** The limit for unread answers (256 MiB), plus answers in preparation. All answers exceed 600 MiB. */
const MAX_GROWTH = 512 * 1_024 ** 2

let seed: TestTracker
let service: TrackerProcess
let cookie: string
let path: string

beforeAll(async () => {
  seed = await startTracker()
  await seed.context.useCases.categories.seed()
  const member = await seed.signedIn('member')
  const torrent = await member.upload(withPieceLayers('large'), { category: 'other' })
  cookie = member.cookie ?? ''
  path = `/api/torrents/${torrent.member('id')}/download`
  service = await startTrackerProcess({
    DATABASE_URL: seed.database.appUrl,
    REDIS_URL: seed.redisUrl,
    REST_READ_LIMIT: '0',
  })
})

afterAll(async () => {
  await service.process.stop()
  await seed.stop()
})

const SHAPES: readonly (readonly [connections: number, times: number])[] = [
  [60, 1],
  [12, 5],
]
test.each(SHAPES)(
  '%i connections that ask for 10 MiB, %i times each, and read nothing take no more than the budget, and nothing from others',
  async (connections, times) => {
    const client = createClient(service.url)
    client.cookie = cookie
    expect((await client.get(path)).bytes.length).toBeGreaterThan(10_000_000)
    const { pid } = service.process
    const before = memoryOf(pid)
    const request = `GET ${path} HTTP/1.1\r\nhost: x\r\ncookie: session=${cookie}\r\n\r\n`.repeat(times)
    const sockets = await Promise.all(Array.from({ length: connections }, () => askUnread(service.url, request)))
    let most = 0
    for (let i = 0; i < 20; i++) {
      expect((await client.get('/api/user/me')).status).toBe(200)
      most = Math.max(most, memoryOf(pid) - before)
      await sleep(100)
    }
    expect(most).toBeLessThan(MAX_GROWTH)
    expect((await client.get(path)).bytes.length).toBeGreaterThan(10_000_000)
    for (const socket of sockets) socket.destroy()
    expect(service.process.isRunning()).toBe(true)
  },
)
