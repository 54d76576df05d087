import { createHash, timingSafeEqual } from 'node:crypto'
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
import type { Administrators } from './administrators.ts'

/** Identifies the administrator of a request. A missing and a wrong token get the same answer. */
export type IdentifyAdministrator = (request: Request, response: Response) => Promise<IdentifiedAdministrator>

/**
 * Identifies administrators by their token or, in a request without the header, by the cookie of their session.
 *
 * @param deps `tokens` are those of the configuration; `findSession` is undefined if no one can sign in; `limitFailures` runs
 *   around the identification
 */
export function createIdentifyAdministrator(deps: {
  tokens: readonly string[]
  administrators: Pick<Administrators, 'findByToken'>
  findSession: ((cookie: string) => Promise<ActiveSession | undefined>) | undefined
  browsers: Browsers
  limitFailures: Around
  proxies: TrustedProxies
}): IdentifyAdministrator {
  const { tokens, administrators, findSession, browsers, limitFailures, proxies } = deps
  const isConfigured = createTokenCheck(tokens)

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
        : await findByToken(bearerToken(authorization))
    return found && { ...known, ...found }
  }

  type Found = Pick<IdentifiedAdministrator, 'actor' | 'grants' | 'session'>

  async function findByToken(token: string | undefined): Promise<Found | undefined> {
    if (token === undefined) return undefined
    if (isConfigured(token))
      return { actor: 'administrator', grants: [{ role: 'holder', projects: null, unbound: [] }] }
    const named = await administrators.findByToken(token)
    if (named === undefined) return undefined
    const { id, role, bound: projects, unbound } = named
    return { actor: `administrator:${id}`, grants: [{ role, projects, unbound }] }
  }

  /** Another site can make a browser send a request, but not with the origin of the vault. */
  async function identifyBySession(request: Request, response: Response): Promise<Found | undefined> {
    const cookie = browsers.readCookie(request, 'session')
    if (cookie === undefined) return undefined
    const clear = (): void => browsers.clearCookie(request, response, 'session')
    const session = await findSession?.(cookie)
    if (session === undefined) {
      clear()
      return undefined
    }
    const { id, actor, name, expiresAt, grants } = session
    if (request.method !== 'GET' && !browsers.isSameOrigin(request)) throw forbidden(actor, '')
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

/** Below the prefix of administrators, unknown paths are 404 for administrators and 401 for everyone else. */
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

/**
 * Compares a token with all accepted ones by their hashes, in constant time, so that the time reveals neither its length
 * nor how many characters are equal.
 */
export function createTokenCheck(accepted: readonly string[]): (presented: string) => boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  const hashes = accepted.map(hash)
  return (presented) => {
    const presentedHash = hash(presented)
    let matches = 0
    for (const known of hashes) matches += Number(timingSafeEqual(known, presentedHash))
    return matches > 0
  }
}
