import { addressKey } from '@vault-and-tracker/service-kit/http/client-address'
import { createRateLimit, type RateLimit } from '@vault-and-tracker/service-kit/http/rate-limit'
import type { Logger } from '@vault-and-tracker/service-kit/log/logger'
import type { Request, Response } from 'express'
import { apiError } from '../errors.ts'
import type { LimitKind, Visitor } from '../surface.ts'

const MINUTE_MS = 60_000

/** An address gets this many times the attempts of an account, for households and offices. */
const ATTEMPTS_PER_ADDRESS = 10

/** Guesses of codes per account and hour, from all addresses together, as a multiple of the attempts of an account. */
const CODES_PER_ACCOUNT = 4

/** The sender of a request, as far as limits concern them. */
type Requester = Pick<Visitor, 'address' | 'session' | 'pending'>

/** The key that a request is counted under; undefined if the limit does not concern it. */
type KeyOf = (requester: Requester, request: Request, kind: LimitKind) => string | undefined

/** Counts a request against a limit. @throws ApiError RATE_LIMITED, or an error that `isUnavailable` recognises */
export type ApplyLimit = (kind: LimitKind, request: Request, response: Response, requester: Requester) => Promise<void>

/**
 * The limits of the REST surface, shared by all replicas through Redis.
 *
 * Reads and writes are counted per user, or per address without a session. Sign-ins are counted per address and account,
 * so that one client cannot block the account of another, and per address; with a session, only failed attempts count.
 * Codes of a second factor are few, so they are also counted per account: only someone who knows its password can reach
 * that limit. If Redis is unavailable, reads pass uncounted; writes and sign-ins get 503.
 *
 * @param options requests per minute, and attempts per five minutes; 0 disables a limit
 */
export function createLimits(options: {
  redis: Parameters<typeof createRateLimit>[0]['redis']
  logger: Logger
  read: number
  write: number
  /** For moderators and administrators, instead of `write`. */
  staffWrite: number
  authentication: number
}): ApplyLimit {
  const limit = (
    name: string,
    perWindow: number,
    windowMs: number,
    keyOf: KeyOf,
    whenRedisIsUnavailable: 'allow' | 'refuse',
    countsOnlyFailed = false,
  ): readonly [RateLimit, KeyOf] => {
    const { redis, logger } = options
    const more = { countsOnlyFailed, createError: () => apiError('RATE_LIMITED') }
    return [
      createRateLimit({ name, redis, logger, limit: perWindow, windowMs, whenRedisIsUnavailable, ...more }),
      keyOf,
    ]
  }
  const attempts = options.authentication
  const authentication = [
    limit('sign-in-address', attempts * ATTEMPTS_PER_ADDRESS, 5 * MINUTE_MS, byAddress, 'refuse'),
    limit('sign-in', attempts, 5 * MINUTE_MS, byAttempt, 'refuse'),
    limit('password', attempts, 5 * MINUTE_MS, byConfirmation, 'refuse', true),
  ]
  const codes = limit('second-factor', attempts * CODES_PER_ACCOUNT, 60 * MINUTE_MS, byPendingAccount, 'refuse')
  const limits: Readonly<Record<LimitKind, readonly (readonly [RateLimit, KeyOf])[]>> = {
    read: [limit('rest-read', options.read, MINUTE_MS, byUser, 'allow')],
    // Counted by the guard of feeds, together with Torznab requests.
    search: [],
    download: [],
    write: [
      limit('rest-write', options.write, MINUTE_MS, byMember, 'refuse'),
      limit('rest-staff-write', options.staffWrite, MINUTE_MS, byStaff, 'refuse'),
    ],
    authentication,
    mail: authentication,
    'second-factor': [...authentication, codes],
  }
  return async (kind, request, response, requester) => {
    for (const [apply, keyOf] of limits[kind]) {
      const key = keyOf(requester, request, kind)
      if (key !== undefined) await apply(key, request, response)
    }
  }
}

function byAddress(requester: Requester): string {
  return addressKey(requester.address)
}

function byUser(requester: Requester): string {
  return requester.session?.account.id ?? byAddress(requester)
}

function isStaff({ session }: Requester): boolean {
  return session !== undefined && session.account.role !== 'member'
}

/** Members and visitors. */
function byMember(requester: Requester): string | undefined {
  return isStaff(requester) ? undefined : byUser(requester)
}

function byStaff(requester: Requester): string | undefined {
  return isStaff(requester) ? byUser(requester) : undefined
}

/** By address and account: the requester's if they are known, else the one that the endpoint itself works with. */
function byAttempt(requester: Requester, request: Request, kind: LimitKind): string | undefined {
  if (isConfirmation(requester, kind)) return undefined
  const named = memberOf(request.body, kind === 'mail' ? 'email' : 'username')
  const claimed = kind === 'second-factor' ? requester.pending?.userId : named
  const account = requester.session?.account.id ?? (typeof claimed === 'string' ? claimed.toLowerCase() : '')
  return `${byAddress(requester)} ${account.slice(0, 64)}`
}

function byConfirmation(requester: Requester, _request: Request, kind: LimitKind): string | undefined {
  return isConfirmation(requester, kind) ? `${byAddress(requester)} ${byUser(requester)}` : undefined
}

/** Whether somebody signed in proves with a password who they are, for example to create an API token. */
function isConfirmation({ session }: Requester, kind: LimitKind): boolean {
  return kind === 'authentication' && session !== undefined
}

/** By the account whose password was right. Security keys cannot be guessed, so they are not counted. */
function byPendingAccount({ pending }: Requester, request: Request): string | undefined {
  return memberOf(request.body, 'code') === undefined ? undefined : pending?.userId
}

function memberOf(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null && name in body ? Reflect.get(body, name) : undefined
}
