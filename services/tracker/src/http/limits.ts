import { addressKey } from '@vault-and-tracker/service-kit/http/client-address'
import { createRateLimit, type RateLimit } from '@vault-and-tracker/service-kit/http/rate-limit'
import type { Logger } from '@vault-and-tracker/service-kit/log/logger'
import type { Request, Response } from 'express'
import { apiError } from '../errors.ts'
import type { LimitKind, Visitor } from '../surface.ts'

const MINUTE_MS = 60_000

/** An address gets this many times the attempts of an account, for households and offices. */
const ATTEMPTS_PER_ADDRESS = 10

/** The key that a request is counted under. */
type KeyOf = (visitor: Visitor, request: Request) => string

/** Counts a request against a limit. @throws ApiError RATE_LIMITED, or an error that `isUnavailable` recognises */
export type ApplyLimit = (kind: LimitKind, request: Request, response: Response, visitor: Visitor) => Promise<void>

/**
 * The limits of the REST surface, shared by all replicas through Redis.
 *
 * Reads and writes are counted per user, or per address without a session. Sign-ins are counted per address and account,
 * so that one client cannot block the account of another, and per address. If Redis is unavailable, reads pass
 * uncounted; writes and sign-ins get 503.
 *
 * @param options requests per minute, and attempts per five minutes; 0 disables a limit
 */
export function createLimits(options: {
  redis: Parameters<typeof createRateLimit>[0]['redis']
  logger: Logger
  read: number
  write: number
  authentication: number
}): ApplyLimit {
  const limit = (
    name: string,
    perWindow: number,
    windowMs: number,
    keyOf: KeyOf,
    whenRedisIsUnavailable: 'allow' | 'refuse',
  ): readonly [RateLimit, KeyOf] => {
    const createError = () => apiError('RATE_LIMITED', 'Too many requests. Try again after the seconds in Retry-After.')
    const { redis, logger } = options
    return [
      createRateLimit({ name, redis, logger, limit: perWindow, windowMs, createError, whenRedisIsUnavailable }),
      keyOf,
    ]
  }
  const attempts = options.authentication
  const limits: Readonly<Record<LimitKind, readonly (readonly [RateLimit, KeyOf])[]>> = {
    read: [limit('rest-read', options.read, MINUTE_MS, byUser, 'allow')],
    write: [limit('rest-write', options.write, MINUTE_MS, byUser, 'refuse')],
    authentication: [
      limit('sign-in-address', attempts * ATTEMPTS_PER_ADDRESS, 5 * MINUTE_MS, byAddress, 'refuse'),
      limit('sign-in', attempts, 5 * MINUTE_MS, byAttempt, 'refuse'),
    ],
  }
  return async (kind, request, response, visitor) => {
    for (const [apply, keyOf] of limits[kind]) await apply(keyOf(visitor, request), request, response)
  }
}

function byAddress(visitor: Visitor): string {
  return addressKey(visitor.address)
}

function byUser(visitor: Visitor): string {
  return visitor.session?.account.id ?? byAddress(visitor)
}

/** By address and account: the requester's if they are signed in, else the one named in the body. */
function byAttempt(visitor: Visitor, request: Request): string {
  const body: unknown = request.body
  const named = typeof body === 'object' && body !== null && 'username' in body ? body.username : undefined
  const account = visitor.session?.account.id ?? (typeof named === 'string' ? named.toLowerCase() : '')
  return `${byAddress(visitor)} ${account.slice(0, 64)}`
}
