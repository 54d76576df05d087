import type { Cluster, Redis, RedisOptions } from 'ioredis'
import { UnavailableError } from '../core/errors.ts'
import { isCertificateRefused } from '../core/unavailable.ts'
import type { Logger } from '../log/logger.ts'
import { createClient } from './client.ts'

const CLUSTER_REMEDY = 'REDIS_URL must name a single Redis, which may have replicas'

/**
 * Connects to Redis and waits until it responds.
 *
 * While Redis is unavailable, commands fail at once, or after `commandTimeout` if Redis accepts them and does not respond.
 * They do not queue, so the caller decides how to fail. The client reconnects at least every two seconds, with Sentinel to
 * the master of that moment.
 *
 * @param options `clusterRemedy` is the remedy in the error for a node of a Redis Cluster; `enableAutoPipelining` sends all
 *   commands of a turn of the event loop together, but not those of `callBuffer`, whose name ioredis 6.0 then drops
 * @throws UnavailableError if Redis does not respond within ten seconds; Error if it is a node of a Redis Cluster, which
 *   refuses most keys over a single connection
 */
export async function connectRedis({
  url,
  name,
  logger,
  commandTimeout = 1_000,
  clusterRemedy = CLUSTER_REMEDY,
  enableAutoPipelining = false,
}: {
  url: string
  name: string
  logger: Logger
  clusterRemedy?: string
} & Pick<RedisOptions, 'commandTimeout' | 'enableAutoPipelining'>): Promise<Redis> {
  const options = {
    connectionName: name,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout,
    // A command that timed out stays in the client's queue until its reply arrives. A new connection empties the queue.
    socketTimeout: 2 * commandTimeout,
    keepAlive: 10_000,
    enableAutoPipelining,
    retryStrategy: (attempt: number) => Math.min(attempt * 100, 2_000),
  }
  const redis = createClient(url, options, logger)
  await connectUntilReady(redis)
  const cluster = await redis.info('cluster').catch(() => '')
  if (/^cluster_enabled:1/m.test(cluster)) {
    redis.disconnect()
    throw new Error(`This Redis is a node of a Redis Cluster. ${clusterRemedy}.`)
  }
  return redis
}

/**
 * Connects a client that was created with `lazyConnect` and waits until Redis, or a cluster, responds.
 *
 * @throws UnavailableError if it does not respond within ten seconds, or its certificate is not accepted; the client is
 *   disconnected then
 */
export async function connectUntilReady(client: Redis | Cluster): Promise<void> {
  const ready = new Promise<void>((resolve, reject) => {
    const giveUp = (cause?: Error): void => {
      clearTimeout(timer)
      client.off('error', onError)
      client.disconnect()
      reject(new UnavailableError('redis', { cause }))
    }
    const onError = (error: Error): void => {
      if (isCertificateRefused(error)) giveUp(error)
    }
    const timer = setTimeout(giveUp, 10_000)
    client.on('error', onError)
    client.once('ready', () => {
      clearTimeout(timer)
      client.off('error', onError)
      resolve()
    })
  })
  // The first attempt may fail while Redis starts. The client retries, and `ready` settles the result.
  client.connect().catch(() => undefined)
  await ready
}

/** Closes the connection. Waits for pending replies unless Redis is unavailable. */
export async function closeRedis(redis: Redis | Cluster): Promise<void> {
  try {
    await redis.quit()
  } catch {
    redis.disconnect()
  }
}

/**
 * Logs a warning if Redis may evict keys before they expire: an evicted nonce could be used again, and an evicted peer
 * would be missing from its swarm.
 */
export async function warnOfEviction(redis: Redis, logger: Logger): Promise<void> {
  const memory = await redis.info('memory').catch(() => '')
  const policy = /^maxmemory_policy:(.+?)\r?$/m.exec(memory)?.[1] ?? 'noeviction'
  if (policy !== 'noeviction')
    logger.warn({ policy }, 'Redis evicts keys when its memory is full; set maxmemory-policy noeviction')
}

/** @throws UnavailableError if Redis does not respond */
export async function pingRedis(redis: Redis): Promise<void> {
  try {
    await redis.ping()
  } catch (error) {
    throw new UnavailableError('redis', { cause: error })
  }
}
