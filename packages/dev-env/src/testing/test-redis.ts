import { Redis } from 'ioredis'
import { currentTestRun } from './test-run.ts'

/** A logical Redis database that no other worker of this run uses. */
export type TestRedis = {
  url: string
  /** Empties it, as between two tests. */
  flush(): Promise<void>
}

/** The Redis database of this jest worker, emptied. Tests that stop or freeze Redis start their own instead. */
export async function testRedis(): Promise<TestRedis> {
  const url = `${currentTestRun().redisUrl}/${process.env['JEST_WORKER_ID'] ?? '0'}`
  const flush = async (): Promise<void> => {
    const client = new Redis(url, { lazyConnect: true })
    try {
      await client.connect()
      await client.flushdb()
    } finally {
      client.disconnect()
    }
  }
  await flush()
  return { url, flush }
}
