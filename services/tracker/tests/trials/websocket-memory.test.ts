import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually, removeTemporaryFolder, temporaryFolder } from '@vault-and-tracker/dev-env'
import { connectSocket, makeOffers } from '../support/socket-client.ts'
import { startTracker, type TestTracker } from '../support/tracker.ts'
import { startTrackerProcess, type TrackerProcess } from '../support/tracker-process.ts'

let world: TestTracker
let tracker: TrackerProcess
let folder: string

beforeAll(async () => {
  folder = temporaryFolder('memory')
  world = await startTracker()
  const probe = new URL('../support/memory-probe.mjs', import.meta.url).href
  tracker = await startTrackerProcess({
    DATABASE_URL: world.database.appUrl,
    REDIS_URL: world.redisUrl,
    TRACKER_MODE: 'open',
    ANNOUNCE_LIMIT: '0',
    WS_SOCKETS_PER_ADDRESS: '1000',
    NODE_OPTIONS: `--import ${probe}?${memoryFile()}`,
  })
})
afterAll(async () => {
  await tracker.process.stop()
  await world.stop()
  removeTemporaryFolder(folder)
})

function memoryFile(): string {
  return join(folder, 'memory')
}

/** Bytes of the heap in use after a collection. */
async function heapUsed(): Promise<number> {
  rmSync(memoryFile(), { force: true })
  process.kill(tracker.process.pid, 'SIGUSR2')
  await eventually(() => existsSync(memoryFile()))
  return (JSON.parse(readFileSync(memoryFile(), 'utf8')) as { heapUsed: number }).heapUsed
}

/** Connects clients that announce different torrents, receive offers and leave, half of them without a close frame. */
async function comeAndGo(count: number, round: number): Promise<void> {
  const clients = await Promise.all(Array.from({ length: count }, () => connectSocket(tracker.url)))
  await Promise.all(
    clients.map((client, i) => {
      const torrent = (round * count + Math.floor(i / 4)).toString(16).padStart(40, '0')
      return client.announce(torrent, { event: 'started', offers: makeOffers(3) })
    }),
  )
  for (const [i, client] of clients.entries()) {
    if (i % 2 === 0) client.socket.close()
    else client.socket.terminate()
  }
  await eventually(async () => /^tracker_websockets 0$/m.test(await (await fetch(`${tracker.url}/metrics`)).text()))
}

test('2,000 closed sockets leave no memory allocated', async () => {
  await comeAndGo(500, 0)
  await comeAndGo(500, 1)
  const before = await heapUsed()
  for (let round = 2; round < 6; round++) await comeAndGo(500, round)
  const after = await heapUsed()
  // An open one takes eight times as much.
  expect(after - before).toBeLessThan(2_000 * 2_048)
  const keys = await world.redisClient.keys('*:[hpnwm]:*')
  expect(keys).toEqual([])
})
