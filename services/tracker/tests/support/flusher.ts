// A process that flushes once and is killed at a step of it, as by a power failure. Run by accounting-crash.test.ts.

import { systemClock } from '@vault-and-tracker/service-kit/core/clock'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createKysely, createPool } from '@vault-and-tracker/service-kit/postgres/pool'
import { Redis } from 'ioredis'
import { createFlusher } from '../../src/accounting/accounting.ts'
import { createAccountingQueue } from '../../src/accounting/accounting-queue.redis.ts'
import { createLedger } from '../../src/accounting/ledger.store.ts'
import type { Schema } from '../../src/db/schema.ts'
import { createRedisFunctions } from '../../src/redis/functions.redis.ts'
import type { SwarmCounts } from '../../src/swarm/swarm.ts'

const [databaseUrl = '', redisUrl = '', killAt = ''] = process.argv.slice(2)

function reached(step: string): void {
  if (step === killAt) process.kill(process.pid, 'SIGKILL')
}

const logger = createLogger({ name: 'flusher', level: 'warn' })
const pool = createPool({ url: databaseUrl, name: 'flusher', size: 2, logger })
const redis = new Redis(redisUrl)
const queue = createAccountingQueue(redis, createRedisFunctions(redis, 'accounting'))
const ledger = createLedger(createKysely<Schema>(pool))
const noCounts: SwarmCounts = { complete: 0, incomplete: 0, paused: 0, completed: 0 }

const flusher = createFlusher({
  queue: {
    tags: queue.tags,
    take: async (tags) => {
      const batches = await queue.take(tags)
      reached('taken')
      return batches
    },
    read: async (batch) => {
      const contents = await queue.read(batch)
      reached('read')
      return contents
    },
    drop: async (batch) => {
      reached('written')
      await queue.drop(batch)
      reached('dropped')
    },
    markChanged: (names) => queue.markChanged(names),
  },
  ledger,
  count: (swarms) => Promise.resolve(swarms.map(() => noCounts)),
  clock: systemClock,
  settleSeconds: 0,
  onCompleted: () => Promise.resolve(),
  onError: (error) => logger.error({ err: error }, 'could not write'),
})
await flusher.flush()
redis.disconnect()
await pool.end()
