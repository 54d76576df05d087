import { addressKey } from '@vault-and-tracker/service-kit/client-address'
import type { Logger } from '@vault-and-tracker/service-kit/logger'
import { createRateLimit } from '@vault-and-tracker/service-kit/rate-limit'
import type { Request, RequestHandler } from 'express'
import { presentError } from '../errors.ts'
import type { LimitKind } from './endpoint.ts'
import { callerOf } from './guards.middleware.ts'

const MINUTE_MS = 60_000

/** One address may make this many times the attempts of one account: a household or an office signs in together. */
const ATTEMPTS_PER_ADDRESS = 10

/**
 * The limits of the REST surface, shared by all replicas through Redis.
 *
 * Reads and writes are counted by user, or by address without a session. Sign-ins are counted by address and account
 * together, so that nobody can lock somebody else out, and beside it by address alone. While Redis is away reads pass
 * uncounted; writes and sign-ins fail as unavailable.
 *
 * @param options requests per minute, and attempts per five minutes; 0 switches a limit off
 */
export function createLimits(options: {
  redis: Parameters<typeof createRateLimit>[0]['redis']
  logger: Logger
  read: number
  write: number
  authentication: number
}): Readonly<Record<LimitKind, readonly RequestHandler[]>> {
  const limit = (
    name: string,
    perWindow: number,
    windowMs: number,
    keyOf: (request: Request) => string,
    whenRedisIsAway: 'allow' | 'refuse',
  ): RequestHandler =>
    createRateLimit({
      name,
      redis: options.redis,
      logger: options.logger,
      limit: perWindow,
      windowMs,
      keyOf,
      refuse: (_request, response) => {
        const { status, body } = presentError('RATE_LIMITED', 'Too many requests. Retry-After tells when to try again.')
        response.status(status).json(body)
      },
      whenRedisIsAway,
    })
  const attempts = options.authentication
  return {
    read: [limit('rest-read', options.read, MINUTE_MS, byUser, 'allow')],
    write: [limit('rest-write', options.write, MINUTE_MS, byUser, 'refuse')],
    authentication: [
      limit('sign-in-address', attempts * ATTEMPTS_PER_ADDRESS, 5 * MINUTE_MS, byAddress, 'refuse'),
      limit('sign-in', attempts, 5 * MINUTE_MS, byAttempt, 'refuse'),
    ],
  }
}

function byAddress(request: Request): string {
  return addressKey(callerOf(request).address)
}

function byUser(request: Request): string {
  return callerOf(request).session?.account.id ?? byAddress(request)
}

/** The account an attempt is about: one's own when signed in, else the one named in the body. */
function byAttempt(request: Request): string {
  const body: unknown = request.body
  const named = typeof body === 'object' && body !== null && 'username' in body ? body.username : undefined
  const account = callerOf(request).session?.account.id ?? (typeof named === 'string' ? named.toLowerCase() : '')
  return `${byAddress(request)} ${account.slice(0, 64)}`
}
