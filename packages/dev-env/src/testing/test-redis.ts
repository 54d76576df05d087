import { Redis } from 'ioredis'
import { currentTestRun } from './test-run.ts'

/** A logical Redis database of this worker. */
export type TestRedis = {
  url: string
  flush(): Promise<void>
}

/** Empties and returns the Redis database of this jest worker. Tests that stop or freeze Redis start their own. */
export async function testRedis(): Promise<TestRedis> {
  const url = `${currentTestRun().redisUrl}/${process.env['JEST_WORKER_ID'] ?? '0'}`
  const flush = async (): Promise<void> => {
    const client = new Redis(url)
    try {
      await client.flushdb()
    } finally {
      client.disconnect()
    }
  }
  await flush()
  return { url, flush }
}
