import type { Guard } from '@vault-and-tracker/rest'
import { clientAddress, type TrustedProxies } from '@vault-and-tracker/service-kit/http/client-address'
import type { Request, Response } from 'express'
import type { RecordAddress } from '../addresses/addresses.ts'
import { bearerOf } from '../http/bearer.ts'
import type { ApplyLimit } from '../http/limits.ts'
import type { LimitKind, SignedInUser, TrackerSurface } from '../surface.ts'
import type { ApiTokens, TokenRefusal, TokenRequest, TokenVerdict } from './api-tokens.ts'
import { type Scope, scopeOf } from './scopes.ts'
import { isTokenText } from './token-text.ts'

/**
 * Admits a request with the token that `find` finds. It is counted as for a session, or by address if the token names no
 * user.
 *
 * @throws ApiError UNAUTHORIZED, FORBIDDEN or RATE_LIMITED
 */
export type AdmitToken = (
  find: (request: TokenRequest) => Promise<TokenVerdict>,
  endpoint: { readonly operationId: string; readonly limit: LimitKind },
  request: Request,
  response: Response,
) => Promise<SignedInUser>

export function createTokenAdmission(deps: {
  proxies: TrustedProxies
  applyLimit: ApplyLimit
  recordAddress: Pick<RecordAddress, 'ofText'>
}): AdmitToken {
  return async (find, { operationId, limit }, request, response) => {
    const address = clientAddress(request, deps.proxies)
    const scope = scopeOf(operationId)
    const { holder, refusal } = await find({ scope, address })
    if (holder) deps.recordAddress.ofText(holder.account.id, 'api', address)
    const userAgent = request.get('user-agent') ?? ''
    const caller = { address, userAgent, scope, pending: undefined, ...WITHOUT_COOKIES }
    await deps.applyLimit(limit, request, response, { ...caller, session: holder && { ...holder, isStrong: false } })
    if (refusal !== undefined) {
      response.setHeader('WWW-Authenticate', challengeOf(refusal, scope))
      throw refusal.error
    }
    return { ...caller, session: { ...holder, isStrong: false } }
  }
}

/** Admits requests with an API token to the operations of its scopes, and leaves all others to the guard of sessions. */
export function createTokenGuard(deps: {
  tokens: Pick<ApiTokens, 'find'>
  admit: AdmitToken
  sessions: Guard<TrackerSurface, SignedInUser>
}): Guard<TrackerSurface, SignedInUser> {
  return async (endpoint, request, response) => {
    const text = bearerOf(request)
    return text === undefined || !isTokenText(text)
      ? deps.sessions(endpoint, request, response)
      : deps.admit((asked) => deps.tokens.find(text, asked), endpoint, request, response)
  }
}

/** No operation that a scope opens sets a cookie. */
const WITHOUT_COOKIES = { setSession: () => undefined, clearSession: () => undefined, setPending: () => undefined }

/** RFC 6750, section 3. */
function challengeOf({ reason }: TokenRefusal, scope: Scope | undefined): string {
  if (reason === 'invalid') return 'Bearer error="invalid_token"'
  return reason === 'scope' && scope !== undefined ? `Bearer error="insufficient_scope", scope="${scope}"` : 'Bearer'
}
