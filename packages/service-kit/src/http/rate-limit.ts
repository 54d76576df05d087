import { createHash } from 'node:crypto'
import type { Request, RequestHandler, Response } from 'express'
import { rateLimit } from 'express-rate-limit'
import type { Redis } from 'ioredis'
import { type RedisReply, RedisStore } from 'rate-limit-redis'
import { isError } from '../core/errors.ts'
import type { Logger } from '../log/logger.ts'

/** Counts a request under a key. @throws the error of the limit when the key has reached it */
export type RateLimit = (key: string, request: Request, response: Response) => Promise<void>

/** express-rate-limit passes only the request to its key generator. */
const KEY = Symbol('rate limit key')
type Keyed = Request & { [KEY]?: string }

/**
 * A limit on requests, counted in Redis and therefore shared by all replicas.
 *
 * Every response has `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers), a refusal also `Retry-After`
 * in whole seconds.
 *
 * @param options `name` is part of the Redis key; `limit` requests per `windowMs`, 0 for no limit; while Redis is
 *   unavailable, `allow` passes requests uncounted and `refuse` makes them fail as unavailable; with `countsOnlyFailed`, a
 *   request is counted until its response, and afterwards only if that is an error
 */
export function createRateLimit(options: {
  name: string
  redis: Redis
  limit: number
  windowMs: number
  createError: () => Error
  whenRedisIsUnavailable: 'allow' | 'refuse'
  countsOnlyFailed?: boolean
  logger: Logger
}): RateLimit {
  const { name, redis, limit, logger } = options
  if (limit === 0) return () => Promise.resolve()
  const limiter = rateLimit({
    windowMs: options.windowMs,
    limit,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    identifier: name,
    skipSuccessfulRequests: options.countsOnlyFailed ?? false,
    keyGenerator: (request: Keyed) => request[KEY] ?? '',
    passOnStoreError: options.whenRedisIsUnavailable === 'allow',
    // Callers find the address themselves (TRUSTED_PROXIES), without Express.
    validate: { xForwardedForHeader: false, trustProxy: false, ip: false, keyGeneratorIpFallback: false },
    store: new RedisStore({
      prefix: `limit:${name}:`,
      sendCommand: (command: string, ...args: string[]) => sendOrHash(redis, command, args),
    }),
    logger: {
      error: (error, message) => logger.error({ err: error, limit: name }, message),
      warn: (error, message) => logger.warn({ err: error, limit: name }, message),
    },
    handler: () => {
      throw options.createError()
    },
  })
  return (key, request: Keyed, response) => {
    request[KEY] = key
    return runMiddleware(limiter, request, response)
  }
}

/**
 * Sends a command. A script load that fails returns the hash of the script, as Redis would: the store keeps the promise of
 * its first load, even a failed one. Running the script then fails while Redis is unavailable, and loads it afterwards.
 */
async function sendOrHash(redis: Redis, command: string, args: readonly string[]): Promise<RedisReply> {
  try {
    return (await redis.call(command, ...args)) as RedisReply
  } catch (error) {
    const [verb, script] = args
    if (command !== 'SCRIPT' || verb !== 'LOAD' || script === undefined) throw error
    return createHash('sha1').update(script).digest('hex')
  }
}

/** Runs Express middleware. Resolves when it passes the request on. @throws the error that it passes to `next` */
export function runMiddleware(handler: RequestHandler, request: Request, response: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    const next = (error?: unknown): void => {
      if (error === undefined) resolve()
      // Some libraries throw errors that inherit from Error but were not created by it.
      else reject(isError(error) || error instanceof Error ? error : new Error('middleware failed', { cause: error }))
    }
    Promise.resolve(handler(request, response, next)).catch(next)
  })
}
