import type { TrustedProxies } from '@vault-and-tracker/service-kit/http/client-address'
import { readCookie } from '@vault-and-tracker/service-kit/http/cookies'
import type { Request, Response } from 'express'
import { isAuthorityOf } from './authorities.ts'
import { clientScheme, forwardedHost } from './input.ts'

/** `sign-in` is sent when the provider redirects to the vault, `session` only by pages of the vault itself. */
const SAME_SITE = { 'sign-in': 'lax', session: 'strict' } as const
type Cookie = keyof typeof SAME_SITE

/** The cookies of the console, and the public URL where a browser reaches it. */
export type Browsers = ReturnType<typeof createBrowsers>

/** @param publicUrls of the vault; without any, it is reached at addresses of this machine only */
export function createBrowsers(publicUrls: readonly URL[], proxies: TrustedProxies) {
  function publicUrlOf(request: Request): URL {
    const host = forwardedHost(request, proxies) ?? request.headers.host ?? ''
    const scheme = clientScheme(request, proxies)
    const own = publicUrls.filter((url) => isAuthorityOf(url, host))
    const known = own.find(({ protocol }) => protocol === `${scheme}:`) ?? own[0] ?? publicUrls[0]
    return known ?? new URL(`${scheme}://${host}`)
  }

  /** With the prefix, no other host of the domain can set the cookie (RFC 6265bis section 4.1.3.2). */
  function cookieOf(request: Request, cookie: Cookie) {
    const secure = publicUrlOf(request).protocol === 'https:'
    return {
      name: `${secure ? '__Host-' : ''}vault-${cookie}`,
      options: { httpOnly: true, secure, sameSite: SAME_SITE[cookie], path: '/' } as const,
    }
  }

  return {
    publicUrlOf,

    /** Whether a page of the vault made a request. Browsers send Origin with every method that changes something. */
    isSameOrigin: (request: Request): boolean => request.headers.origin === publicUrlOf(request).origin,

    readCookie: (request: Request, cookie: Cookie): string | undefined =>
      readCookie(request.headers.cookie, cookieOf(request, cookie).name),

    setCookie: (request: Request, response: Response, cookie: Cookie, value: string, maxAgeMs: number): void => {
      const { name, options } = cookieOf(request, cookie)
      response.cookie(name, value, { ...options, maxAge: maxAgeMs })
    },

    clearCookie: (request: Request, response: Response, cookie: Cookie): void => {
      const { name, options } = cookieOf(request, cookie)
      response.clearCookie(name, options)
    },
  }
}
