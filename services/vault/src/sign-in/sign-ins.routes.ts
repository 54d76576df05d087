import { type Around, readQuery } from '@vault-and-tracker/rest'
import { isUnavailable } from '@vault-and-tracker/service-kit/core/unavailable'
import { addressKey, clientAddress, type TrustedProxies } from '@vault-and-tracker/service-kit/http/client-address'
import type { RateLimit } from '@vault-and-tracker/service-kit/http/rate-limit'
import type { Logger } from '@vault-and-tracker/service-kit/log/logger'
import { type Request, type Response, Router } from 'express'
import type { Refusals } from '../audit/refusals.ts'
import { apiError, type ErrorCode, isApiError } from '../errors.ts'
import type { Browsers } from '../http/browser.ts'
import { SESSION_MS } from './sessions.ts'
import { SIGN_IN_MS, type SignIns } from './sign-ins.ts'

const START = '/v1/sign-in/start'
const CALLBACK = '/v1/sign-in/callback'

/**
 * The addresses that browsers visit to sign in. They redirect, so the person sees a page instead of JSON, and no
 * authorization code stays in the address bar. The fragment passes an error code to the console.
 *
 * @param deps `limit` counts, per address, responses to sign-ins that the browser started; `limitFailures` those that fail
 */
export function signInRoutes(deps: {
  signIns: SignIns
  browsers: Browsers
  proxies: TrustedProxies
  limit: RateLimit
  limitFailures: Around
  refusals: Pick<Refusals, 'noteError'>
  logger: Logger
}): Router {
  const { signIns, browsers, proxies, limit, limitFailures, refusals, logger } = deps
  const router = Router({ caseSensitive: true, strict: true })
  const redirectUri = (request: Request): URL => new URL(CALLBACK, browsers.publicUrlOf(request))

  function redirect(response: Response, to: string): void {
    response.set({ 'Referrer-Policy': 'no-referrer', Location: to }).status(303).end()
  }

  function codeOf(error: unknown): ErrorCode {
    if (isApiError(error)) return error.code
    if (isUnavailable(error)) logger.warn({ err: error }, 'dependency unavailable during a sign-in')
    else logger.error({ err: error }, 'a sign-in failed')
    return isUnavailable(error) ? 'unavailable' : 'internal_error'
  }

  function redirectToError(request: Request, response: Response, page: string, error: unknown): void {
    refusals.noteError(error, clientAddress(request, proxies))
    redirect(response, `/console${page}#sign-in=${codeOf(error)}`)
  }

  // Express would answer HEAD like GET, and finish a sign-in.
  router.all([START, CALLBACK], ({ method }, response, next) => {
    if (method !== 'GET') {
      response.setHeader('Allow', 'GET')
      throw apiError('method_not_allowed')
    }
    next()
  })

  router.get(START, async (request, response) => {
    try {
      const { page } = readQuery(request.originalUrl, ['page'], () => apiError('invalid_request'))
      const { url, cookie } = await signIns.start(redirectUri(request).href, page)
      browsers.setCookie(request, response, 'sign-in', cookie, SIGN_IN_MS)
      redirect(response, url.href)
    } catch (error) {
      redirectToError(request, response, '/', error)
    }
  })

  router.get(CALLBACK, async (request, response) => {
    const cookie = browsers.readCookie(request, 'sign-in')
    const page = signIns.pageOf(cookie)
    try {
      const address = clientAddress(request, proxies)
      const received = new URL(request.originalUrl.slice(CALLBACK.length), redirectUri(request))
      // Not counted: a page of another site can make a browser send any other response.
      const started = signIns.requireStarted(received, cookie)
      const from = { started, address, client: addressKey(address) }
      await limit(from.client, request, response)
      const session = await limitFailures(request, response, () => signIns.finish(received, from))
      browsers.setCookie(request, response, 'session', session, SESSION_MS)
      browsers.clearCookie(request, response, 'sign-in')
      redirect(response, `/console${page}`)
    } catch (error) {
      redirectToError(request, response, page, error)
    }
  })
  return router
}
