import { clientAddress, type TrustedProxies } from '@vault-and-tracker/service-kit/client-address'
import type { Request, RequestHandler, Response } from 'express'
import type { Session } from '../accounts/sessions.ts'
import { apiError } from '../errors.ts'
import type { Caller } from './endpoint.routes.ts'
import { isCrossSite } from './endpoint.ts'

const COOKIE = 'session'

const callers = new WeakMap<Request, Caller>()

/** Who makes this request, as `identify` found out. */
export function callerOf(request: Request): Caller {
  const caller = callers.get(request)
  if (caller === undefined) throw new Error('the caller was asked for before `identify` ran')
  return caller
}

/**
 * Finds the session that the cookie names.
 *
 * @param deps `secure` keeps the cookie to https
 */
export function createIdentify(deps: {
  secure: boolean
  cookieMaxAgeMs: number
  proxies: TrustedProxies
  findSession: (token: string) => Promise<Session | undefined>
}): RequestHandler {
  const options = { httpOnly: true, sameSite: 'lax', secure: deps.secure, path: '/' } as const
  return async (request, response, next) => {
    const token = readCookie(request.headers.cookie, COOKIE)
    const session = token === undefined ? undefined : await deps.findSession(token)
    callers.set(request, {
      address: clientAddress(request, deps.proxies),
      userAgent: request.get('user-agent') ?? '',
      session,
      setSession: (value) => void response.cookie(COOKIE, value, { ...options, maxAge: deps.cookieMaxAgeMs }),
      clearSession: () => void response.clearCookie(COOKIE, options),
    })
    next()
  }
}

/** Refuses a request that another site made the browser send. `publicUrl` is where our own pages come from. */
export function createRefuseCrossSite(publicUrl: string): RequestHandler {
  const own = new URL(publicUrl).origin
  return (request, _response, next) => {
    if (isCrossSite({ secFetchSite: request.get('sec-fetch-site'), origin: request.get('origin') }, own))
      throw apiError('FORBIDDEN', 'This request was made by another site.')
    next()
  }
}

/** Headers of every REST answer: never cached, never framed, never taken for anything but what it says it is. */
export function restHeaders(_request: Request, response: Response, next: () => void): void {
  response.set({
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  })
  next()
}

/** The first cookie of a name; of two, the one that the browser holds for the more specific path comes first. */
function readCookie(header: string | undefined, name: string): string | undefined {
  for (const part of header?.split(';') ?? []) {
    const at = part.indexOf('=')
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim()
  }
  return undefined
}
