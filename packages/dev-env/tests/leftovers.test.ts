import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from '@jest/globals'
import { freePort, removeTemporaryFolder, startRedis, temporaryFolder } from '@vault-and-tracker/dev-env'
import { Redis } from 'ioredis'
import { identityOf } from '../src/processes/identity.mjs'

const folder = temporaryFolder('leftovers-test')
afterAll(() => removeTemporaryFolder(folder))

/** Makes a run look like one whose reaper was killed as well. */
function forgetReaper(dataDir: string): void {
  const file = join(dataDir, 'process.json')
  const note = JSON.parse(readFileSync(file, 'utf8')) as object
  writeFileSync(file, JSON.stringify({ ...note, reaper: { pid: 1, identity: 'of the last run' } }))
}

it('stops the server that the last run left behind, with its data saved, before it starts its own', async () => {
  const options = { dataDir: join(folder, 'redis'), port: await freePort(), durable: true }
  const left = await startRedis(options)
  const client = new Redis(left.url)
  await client.set('kept', 'yes')
  client.disconnect()
  forgetReaper(options.dataDir)
  const redis = await startRedis(options)
  expect(left.isRunning()).toBe(false)
  const again = new Redis(redis.url)
  expect(await again.get('kept')).toBe('yes')
  again.disconnect()
  await redis.stop()
})

it('does not stop another process that has the pid of a process of the last run', async () => {
  const dataDir = join(folder, 'redis')
  const other = { pid: process.ppid, identity: 'another process', stopSignal: 'SIGKILL', graceMs: 100, phase: 0 }
  writeFileSync(join(dataDir, 'process.json'), JSON.stringify({ process: other, reaper: other }))
  const redis = await startRedis({ dataDir, durable: true })
  expect(identityOf(process.ppid)).toBeDefined()
  await redis.stop()
})
