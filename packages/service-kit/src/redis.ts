import type { Writable } from 'node:stream'
import { type Cluster, Redis, type RedisOptions } from 'ioredis'
import { UnavailableError } from './errors.ts'
import type { Logger } from './logger.ts'

/**
 * Connects to Redis and waits until it responds.
 *
 * While Redis is unavailable, commands fail at once, or after `commandTimeout` (one second) when it accepts them and
 * does not respond. They do not queue, so the caller can decide how to fail. The client keeps reconnecting, at least
 * every two seconds.
 *
 * @param options `corkWrites` sends all commands of one turn of the event loop with one system call; `clusterRemedy` is
 *   what to configure where Redis is a node of a Cluster
 * @throws UnavailableError when Redis does not respond within ten seconds; Error when it is a node of a Redis Cluster,
 *   which refuses most keys over a single connection
 */
export async function connectRedis(
  options: {
    url: string
    name: string
    logger: Logger
    corkWrites?: boolean
    clusterRemedy?: string
  } & Pick<RedisOptions, 'commandTimeout'>,
): Promise<Redis> {
  keepStringsFast()
  const commandTimeout = options.commandTimeout ?? 1_000
  const redis = new Redis(options.url, {
    connectionName: options.name,
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout,
    // A command that timed out stays in the client's queue until its reply arrives. A new connection empties the queue.
    socketTimeout: 2 * commandTimeout,
    connectTimeout: 3_000,
    keepAlive: 10_000,
    retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
  })
  redis.on('error', (error: Error) => options.logger.warn({ err: error }, 'Redis connection error'))
  if (options.corkWrites === true) redis.on('connect', () => corkWrites(redis.stream))
  await connectUntilReady(redis)
  if (await isClusterNode(redis)) {
    redis.disconnect()
    throw new Error(`This Redis is a node of a Redis Cluster. ${options.clusterRemedy ?? CLUSTER_REMEDY}.`)
  }
  return redis
}

/**
 * ioredis makes a subclass of String. From then on V8 keeps the methods of strings in a hash table, and every call of one,
 * in any module, looks it up there. Listing the properties of a String makes V8 undo that.
 */
function keepStringsFast(): void {
  for (const name in Object('')) void name
}

const CLUSTER_REMEDY = 'REDIS_URL must name a single Redis, which may have replicas'

/** False also where Redis does not tell. */
async function isClusterNode(redis: Redis): Promise<boolean> {
  const cluster = await redis.info('cluster').catch(() => '')
  return /^cluster_enabled:1/m.test(cluster)
}

/**
 * Connects a client that was made with `lazyConnect` and waits until Redis, or a cluster, responds.
 *
 * @throws UnavailableError when it does not respond within ten seconds; then the client is disconnected
 */
export async function connectUntilReady(client: Redis | Cluster): Promise<void> {
  const ready = new Promise<void>((resolve, reject) => {
    const giveUp = setTimeout(() => {
      client.disconnect()
      reject(new UnavailableError('redis'))
    }, 10_000)
    client.once('ready', () => {
      clearTimeout(giveUp)
      resolve()
    })
  })
  // The first attempt may fail while Redis is starting. The retry strategy continues, and `ready` settles the result.
  client.connect().catch(() => undefined)
  await ready
}

/**
 * Collects the writes of one turn of the event loop and makes one system call for them. One call for each command would
 * cost client and server more than the command itself, and a pipeline of ioredis needs one more promise for each
 * command.
 */
function corkWrites(socket: Writable): void {
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean
  let corked = false
  socket.write = (...args: unknown[]) => {
    if (!corked) {
      corked = true
      socket.cork()
      setImmediate(() => {
        corked = false
        socket.uncork()
      })
    }
    return write(...args)
  }
}

/** Closes the connection: waits for pending replies, but not when Redis is unavailable. */
export async function closeRedis(redis: Redis | Cluster): Promise<void> {
  try {
    await redis.quit()
  } catch {
    redis.disconnect()
  }
}

/**
 * Logs a warning when Redis may evict keys before they expire: an evicted nonce could be used again, an evicted peer is
 * no longer handed out. No warning when Redis does not tell its policy.
 */
export async function warnOfEviction(redis: Redis, logger: Logger): Promise<void> {
  const memory = await redis.info('memory').catch(() => '')
  const policy = /^maxmemory_policy:(.+?)\r?$/m.exec(memory)?.[1] ?? 'noeviction'
  if (policy !== 'noeviction')
    logger.warn({ policy }, 'Redis evicts keys when its memory is full; set maxmemory-policy noeviction')
}

/** @throws UnavailableError when Redis does not respond */
export async function pingRedis(redis: Redis): Promise<void> {
  try {
    await redis.ping()
  } catch (error) {
    throw new UnavailableError('redis', { cause: error })
  }
}
