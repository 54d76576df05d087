import { createHash } from 'node:crypto'
import type { Request, RequestHandler } from 'express'
import { rateLimit } from 'express-rate-limit'
import type { Redis } from 'ioredis'
import { type RedisReply, RedisStore } from 'rate-limit-redis'
import type { Logger } from './logger.ts'

/**
 * A limit on requests, counted in Redis and so shared by all replicas.
 *
 * Every answer carries `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers); a refusal also
 * `Retry-After` in whole seconds.
 *
 * @param options `name` is part of the Redis key; `limit` requests per `windowMs`, 0 for no limit; `keyOf` says who is
 *   counted; `createError` makes the error to throw; `whenRedisIsUnavailable` has no default, since which way a limit fails is a
 *   decision: `allow` lets requests pass uncounted, `refuse` makes them fail as unavailable
 */
export function createRateLimit(options: {
  name: string
  redis: Redis
  limit: number
  windowMs: number
  keyOf: (request: Request) => string
  createError: () => Error
  whenRedisIsUnavailable: 'allow' | 'refuse'
  logger: Logger
}): RequestHandler {
  if (options.limit === 0) return (_request, _response, next) => next()
  return rateLimit({
    windowMs: options.windowMs,
    limit: options.limit,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    identifier: options.name,
    keyGenerator: options.keyOf,
    passOnStoreError: options.whenRedisIsUnavailable === 'allow',
    // The address is ours to find (TRUSTED_PROXIES), so express's own idea of it is not consulted.
    validate: { xForwardedForHeader: false, trustProxy: false, ip: false, keyGeneratorIpFallback: false },
    store: new RedisStore({
      prefix: `limit:${options.name}:`,
      sendCommand: (command: string, ...args: string[]) => sendOrName(options.redis, command, args),
    }),
    logger: {
      error: (error, message) => options.logger.error({ err: error, limit: options.name }, message),
      warn: (error, message) => options.logger.warn({ err: error, limit: options.name }, message),
    },
    handler: () => {
      throw options.createError()
    },
  })
}

/**
 * The store keeps the promise of a loaded script, also one that failed because Redis was unavailable. So a load that
 * fails returns the hash of the script, as Redis would. Running the script then fails while Redis is unavailable, and is
 * loaded again afterwards.
 */
async function sendOrName(redis: Redis, command: string, args: readonly string[]): Promise<RedisReply> {
  try {
    return (await redis.call(command, ...args)) as RedisReply
  } catch (error) {
    const [verb, script] = args
    if (command !== 'SCRIPT' || verb !== 'LOAD' || script === undefined) throw error
    return createHash('sha1').update(script).digest('hex')
  }
}
