import { clientAddress, type TrustedProxies } from '@vault-and-tracker/service-kit/client-address'
import type { Request, Response } from 'express'
import type { Session } from '../accounts/sessions.ts'
import type { Access, Visitor } from './surface.ts'

/** Whether a role opens an access level. */
export function mayAccess(role: 'member' | 'moderator' | 'admin', access: Access): boolean {
  const rank = { anyone: 0, session: 1, member: 1, moderator: 2, admin: 3 }
  return rank[role] >= rank[access]
}

/**
 * Whether a request that changes something may have been made by another site with the user's cookie.
 *
 * Browsers say where a request comes from in Sec-Fetch-Site, older ones in Origin. Clients that are not browsers send
 * neither, and have no cookie of another user.
 *
 * @param ownOrigin scheme, host and port of PUBLIC_URL
 */
export function isCrossSite(
  headers: { secFetchSite: string | undefined; origin: string | undefined },
  ownOrigin: string,
): boolean {
  if (headers.secFetchSite !== undefined)
    return headers.secFetchSite !== 'same-origin' && headers.secFetchSite !== 'none'
  return headers.origin !== undefined && headers.origin !== ownOrigin
}

const COOKIE = 'session'

/** Finds out where a request came from and which session its cookie names. */
export type FindVisitor = (request: Request, response: Response) => Promise<Visitor>

/** @param deps `secure` keeps the cookie to https */
export function createFindVisitor(deps: {
  secure: boolean
  cookieMaxAgeMs: number
  proxies: TrustedProxies
  findSession: (token: string) => Promise<Session | undefined>
}): FindVisitor {
  const options = { httpOnly: true, sameSite: 'lax', secure: deps.secure, path: '/' } as const
  return async (request, response) => {
    const token = readCookie(request.headers.cookie, COOKIE)
    return {
      address: clientAddress(request, deps.proxies),
      userAgent: request.get('user-agent') ?? '',
      session: token === undefined ? undefined : await deps.findSession(token),
      setSession: (value) => void response.cookie(COOKIE, value, { ...options, maxAge: deps.cookieMaxAgeMs }),
      clearSession: () => void response.clearCookie(COOKIE, options),
    }
  }
}

/** The first cookie of a name; of two, the one that the browser holds for the more specific path comes first. */
function readCookie(header: string | undefined, name: string): string | undefined {
  for (const part of header?.split(';') ?? []) {
    const at = part.indexOf('=')
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim()
  }
  return undefined
}
