import { clientAddress, type TrustedProxies } from '@vault-and-tracker/service-kit/client-address'
import type { Request, Response } from 'express'
import type { Session } from '../accounts/sessions.ts'
import type { Visitor } from './surface.ts'

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
