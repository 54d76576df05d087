import type { Writable } from 'node:stream'
import { Redis, type RedisOptions } from 'ioredis'
import { errorCode, isError, UnavailableError } from './errors.ts'
import type { Logger } from './logger.ts'

/**
 * Connects to Redis and waits until it answers.
 *
 * Commands fail at once while Redis is away, and after one second while it is frozen: whoever asks decides which way
 * to fail, nothing queues up. The client reconnects by itself, for ever, at most two seconds apart.
 *
 * @param options `gatherWrites` where many requests ask for little each: one system call for a turn's commands
 * @throws UnavailableError when Redis does not answer within ten seconds
 */
export async function connectRedis(
  options: { url: string; name: string; logger: Logger; gatherWrites?: boolean } & Pick<RedisOptions, 'commandTimeout'>,
): Promise<Redis> {
  const commandTimeout = options.commandTimeout ?? 1_000
  const redis = new Redis(options.url, {
    connectionName: options.name,
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout,
    // A command that timed out stays in the client's queue until its reply; only a new connection has an empty one.
    socketTimeout: 2 * commandTimeout,
    connectTimeout: 3_000,
    keepAlive: 10_000,
    retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
  })
  redis.on('error', (error: Error) => options.logger.warn({ err: error }, 'Redis connection error'))
  if (options.gatherWrites === true) redis.on('connect', () => gatherWrites(redis.stream))
  const ready = new Promise<void>((resolve, reject) => {
    const giveUp = setTimeout(() => {
      redis.disconnect()
      reject(new UnavailableError('redis'))
    }, 10_000)
    redis.once('ready', () => {
      clearTimeout(giveUp)
      resolve()
    })
  })
  // The first attempt may fail while Redis is still starting; the retry strategy goes on, and `ready` tells the end.
  redis.connect().catch(() => undefined)
  await ready
  return redis
}

/**
 * Hands what is written within one turn of the event loop to the system in one call. One for each command costs both
 * sides more than the command does; ioredis's own pipelines need an object for each turn and a promise more a command.
 */
function gatherWrites(socket: Writable): void {
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

/** Gives the connection back: waits for replies under way, but not for a Redis that is gone. */
export async function closeRedis(redis: Redis): Promise<void> {
  try {
    await redis.quit()
  } catch {
    redis.disconnect()
  }
}

/**
 * Warns when Redis would throw keys away to make room. What a service keeps there it needs until it expires: a nonce
 * that is gone can be used again, a peer that is gone is given to no other. Silent when Redis does not say its policy.
 */
export async function warnOfEviction(redis: Redis, logger: Logger): Promise<void> {
  const memory = await redis.info('memory').catch(() => '')
  const policy = /^maxmemory_policy:(.+?)\r?$/m.exec(memory)?.[1] ?? 'noeviction'
  if (policy !== 'noeviction')
    logger.warn({ policy }, 'Redis evicts keys when its memory is full; set maxmemory-policy noeviction')
}

/** Messages of ioredis when a command did not reach Redis or got no reply; it has no error codes for these. */
const UNAVAILABLE_MESSAGE =
  /^(Connection is closed|Command timed out|Stream isn't writeable|Reached the max retries per request|connect E|read E|write E|LOADING|READONLY|MISCONF|OOM|CLUSTERDOWN|MASTERDOWN|NOREPLICAS|UNBLOCKED|Socket timeout|Command aborted)/

/** Whether an error says that Redis is away or refuses work for now. */
export function isRedisUnavailable(error: unknown): boolean {
  if (!isError(error)) return false
  const code = errorCode(error)
  return (
    UNAVAILABLE_MESSAGE.test(error.message) ||
    error.name === 'MaxRetriesPerRequestError' ||
    code === 'ECONNREFUSED' ||
    code === 'ECONNRESET'
  )
}

/** Runs work on Redis. @throws UnavailableError when Redis is away, else whatever the work throws */
export async function orRedisUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw isRedisUnavailable(error) ? new UnavailableError('redis', { cause: error }) : error
  }
}

/** Fails with UnavailableError unless Redis answers. */
export async function pingRedis(redis: Redis): Promise<void> {
  try {
    await redis.ping()
  } catch (error) {
    throw new UnavailableError('redis', { cause: error })
  }
}
