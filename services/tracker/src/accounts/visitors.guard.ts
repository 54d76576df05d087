import type { Guard, Serving } from '@vault-and-tracker/rest'
import { clientAddress, type TrustedProxies } from '@vault-and-tracker/service-kit/http/client-address'
import { readCookie } from '@vault-and-tracker/service-kit/http/cookies'
import type { Request, Response } from 'express'
import { apiError } from '../errors.ts'
import type { ReadRequestBody } from '../http/input.ts'
import type { ApplyLimit } from '../http/limits.ts'
import type { Access, SignedInUser, TrackerSurface, Visitor, VisitorAccess } from '../surface.ts'
import { refusalOf } from './accounts.ts'
import { MAX_SESSION_AGE_MS, type Sessions } from './sessions.ts'
import { PENDING_MS, type SignIns } from './sign-ins.ts'

/** Whether a role grants an access level. */
function mayAccess(role: 'member' | 'moderator' | 'admin', access: Access): boolean {
  // Feeds have their own guard.
  const rank = { anyone: 0, session: 1, account: 1, member: 1, moderator: 2, admin: 3, feed: Infinity }
  return rank[role] >= rank[access]
}

/**
 * Whether another site may have made a state-changing request with the user's cookie.
 *
 * Browsers declare the origin of a request in Sec-Fetch-Site, older ones in Origin. Other clients send neither, and
 * have no cookies of other users.
 *
 * @param ownOrigin scheme, host and port of PUBLIC_URL
 */
function isCrossSite(
  headers: { secFetchSite: string | undefined; origin: string | undefined },
  ownOrigin: string,
): boolean {
  if (headers.secFetchSite !== undefined)
    return headers.secFetchSite !== 'same-origin' && headers.secFetchSite !== 'none'
  return headers.origin !== undefined && headers.origin !== ownOrigin
}

const COOKIE = 'session'
/** A sign-in that waits for the second factor. */
const PENDING_COOKIE = 'pending'

/**
 * Identifies the requester by their session cookie and refuses requests they are not allowed to make.
 *
 * @param deps `publicUrl` is the URL at which browsers reach the tracker
 */
export function createVisitorGuards(deps: {
  publicUrl: URL
  proxies: TrustedProxies
  sessions: Pick<Sessions, 'find'>
  signIns: Pick<SignIns, 'find'>
  /** Whether staff need a second factor. */
  isFactorRequired: () => Promise<boolean>
  readBody: ReadRequestBody
  applyLimit: ApplyLimit
}): Pick<Serving<TrackerSurface>['guards'], VisitorAccess> {
  const { publicUrl, proxies, sessions, signIns, readBody, applyLimit } = deps
  const cookie = { httpOnly: true, sameSite: 'lax', secure: publicUrl.protocol === 'https:', path: '/' } as const
  const pendingCookie = { ...cookie, sameSite: 'strict', path: '/api/auth' } as const

  async function visitorOf(request: Request, response: Response): Promise<Visitor> {
    const token = readCookie(request.headers.cookie, COOKIE)
    const pending = readCookie(request.headers.cookie, PENDING_COOKIE)
    const address = clientAddress(request, proxies)
    return {
      address,
      userAgent: request.get('user-agent') ?? '',
      session: token === undefined ? undefined : await sessions.find(token, address),
      pending: pending === undefined ? undefined : await signIns.find(pending),
      setSession: (value) => {
        response.cookie(COOKIE, value, { ...cookie, maxAge: MAX_SESSION_AGE_MS })
        if (pending !== undefined) response.clearCookie(PENDING_COOKIE, pendingCookie)
      },
      clearSession: () => void response.clearCookie(COOKIE, cookie),
      setPending: (value) => void response.cookie(PENDING_COOKIE, value, { ...pendingCookie, maxAge: PENDING_MS }),
    }
  }

  const anyone: Guard<TrackerSurface, Visitor> = async (endpoint, request, response) => {
    const from = { secFetchSite: request.get('sec-fetch-site'), origin: request.get('origin') }
    if (endpoint.method !== 'GET' && isCrossSite(from, publicUrl.origin))
      throw apiError(
        'FORBIDDEN',
        `This request was not made by a page of ${publicUrl.origin}, the PUBLIC_URL of this tracker. Open that address, or change the setting.`,
      )
    const visitor = await visitorOf(request, response)
    // Sign-in attempts are counted per account, so the body is read first.
    if (endpoint.limit === 'authentication' || endpoint.limit === 'mail' || endpoint.limit === 'second-factor')
      await readBody(endpoint, request, response, visitor)
    await applyLimit(endpoint.limit, request, response, visitor)
    return visitor
  }
  const signedIn: Guard<TrackerSurface, SignedInUser> = async (endpoint, request, response) => {
    const user = requireAccess(await anyone(endpoint, request, response), endpoint.access)
    if (isWeakStaff(user, endpoint.access) && (await deps.isFactorRequired())) throw apiError('SECOND_FACTOR_MISSING')
    return user
  }
  return { anyone, session: signedIn, account: signedIn, member: signedIn, moderator: signedIn, admin: signedIn }
}

/** Whether staff without a second factor use more than their account. */
function isWeakStaff({ session }: SignedInUser, access: Access): boolean {
  return session.account.role !== 'member' && !session.isStrong && access !== 'session' && access !== 'account'
}

function requireAccess(visitor: Visitor, access: Access): SignedInUser {
  const { session } = visitor
  if (session === undefined) throw apiError('UNAUTHORIZED', 'Sign in first.')
  const refusal = access === 'session' ? undefined : refusalOf(session.account)
  if (refusal) throw refusal
  if (!mayAccess(session.account.role, access)) throw apiError('FORBIDDEN', 'Your role does not allow this.')
  return { ...visitor, session }
}
