import type { Around, Guard } from '@vault-and-tracker/rest'
import { clientAddress, type TrustedProxies } from '@vault-and-tracker/service-kit/http/client-address'
import type { RateLimit } from '@vault-and-tracker/service-kit/http/rate-limit'
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import {
  type ActiveSession,
  type Administrator,
  admitTo,
  type IdentifiedAdministrator,
} from '../access/administrator.ts'
import { apiError, forbidden } from '../errors.ts'
import type { Browsers } from '../http/browser.ts'
import { wantedWrite } from '../http/input.ts'
import type { VaultSurface } from '../http/surface.ts'
import type { Tokens } from './tokens.ts'

/** Identifies the administrator of a request. A missing and a wrong token get the same answer. */
export type IdentifyAdministrator = (request: Request, response: Response) => Promise<IdentifiedAdministrator>

/**
 * Identifies administrators by their token or, in a request without the header, by the cookie of their session.
 *
 * @param deps `limitFailures` runs around the identification
 */
export function createIdentifyAdministrator(deps: {
  tokens: Pick<Tokens, 'findByToken'>
  findSession: (cookie: string) => Promise<ActiveSession | undefined>
  browsers: Browsers
  limitFailures: Around
  proxies: TrustedProxies
}): IdentifyAdministrator {
  const { tokens, findSession, browsers, limitFailures, proxies } = deps

  async function identify(request: Request, response: Response): Promise<IdentifiedAdministrator | undefined> {
    const { authorization } = request.headers
    const known = {
      kind: 'administrator' as const,
      address: clientAddress(request, proxies),
      wanted: wantedWrite(response),
    }
    const found =
      authorization === undefined
        ? await identifyBySession(request, response)
        : await identifyByToken(bearerToken(authorization), request, response)
    return found && { ...known, ...found }
  }

  type Found = Pick<IdentifiedAdministrator, 'actor' | 'grants' | 'session' | 'token'>

  async function identifyByToken(
    token: string | undefined,
    request: Request,
    response: Response,
  ): Promise<Found | undefined> {
    const found = token === undefined ? undefined : await tokens.findByToken(token)
    if (found === undefined) return undefined
    const { actor, grants, name, credential } = found
    const remember = (cookie: string, maxAgeMs: number): void =>
      browsers.setCookie(request, response, 'session', cookie, maxAgeMs)
    const requireOwnPage = (): void => requirePageOf(request, actor)
    return { actor, grants, token: { name, credential, requireOwnPage, remember } }
  }

  /** Another site can make a browser send a request, but not with the origin of the vault. */
  function requirePageOf(request: Request, actor: string): void {
    if (browsers.isSameOrigin(request)) return
    const { origin } = browsers.publicUrlOf(request)
    const where = `The request was not made by a page of ${origin}, the address of this vault.`
    throw forbidden(actor, '', `${where} Open that address, or correct PUBLIC_URL.`)
  }

  async function identifyBySession(request: Request, response: Response): Promise<Found | undefined> {
    const cookie = browsers.readCookie(request, 'session')
    if (cookie === undefined) return undefined
    const clear = (): void => browsers.clearCookie(request, response, 'session')
    const session = await findSession(cookie)
    if (session === undefined) {
      clear()
      return undefined
    }
    const { id, actor, name, expiresAt, grants } = session
    if (request.method !== 'GET') requirePageOf(request, actor)
    const signedOutUrl = new URL('/console/', browsers.publicUrlOf(request)).href
    return { actor, grants, session: { id, name, expiresAt, signedOutUrl, clear } }
  }

  return (request, response) =>
    limitFailures(request, response, async () => {
      const administrator = await identify(request, response)
      if (administrator !== undefined) return administrator
      response.setHeader('WWW-Authenticate', 'Bearer')
      throw apiError('unauthorized')
    })
}

/**
 * Lets administrators use the endpoints that their role and their projects allow.
 *
 * @param limitWrite counts a write of an administrator
 */
export function createAdministratorGuard(
  identify: IdentifyAdministrator,
  limitWrite: RateLimit,
): Guard<VaultSurface, Administrator> {
  return async ({ method, path, params }, request, response) => {
    const administrator = await identify(request, response)
    // A malformed id is not found for every caller, and the audit log has no entry for it.
    const isMalformed = params?.safeParse(request.params).success === false
    if (isMalformed && request.method === method) throw apiError('not_found')
    const { id } = request.params
    const hasProject = path.startsWith('/v1/admin/projects/:id') && !isMalformed
    const project = hasProject && typeof id === 'string' ? id : undefined
    const admitted = admitTo(administrator, { method, path, project })
    if (admitted === undefined) throw forbidden(administrator.actor, project ?? '')
    if (method !== 'GET') await limitWrite(administrator.actor, request, response)
    return admitted
  }
}

/** Unknown paths below the prefix of administrators return 404 to administrators and 401 to everyone else. */
export function administratorsOnly(identify: IdentifyAdministrator): RequestHandler {
  return async (request, response, next) => {
    await identify(request, response)
    next()
  }
}

/** The same for paths that cannot be decoded, which Express reports as an error. */
export function administratorsOnlyOnError(identify: IdentifyAdministrator): ErrorRequestHandler {
  return async (error: unknown, request, response, next) => {
    const isMalformedPath = error instanceof Error && error.name === 'URIError'
    if (isMalformedPath) await identify(request, response)
    next(error)
  }
}

/** The token of an `Authorization` header (RFC 6750 section 2.1). */
export function bearerToken(header: string | undefined): string | undefined {
  return /^Bearer +([!-~]+)$/i.exec(header ?? '')?.[1]
}
