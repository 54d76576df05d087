import type { Guard } from '@vault-and-tracker/rest'
import { clientAddress, type TrustedProxies } from '@vault-and-tracker/service-kit/http/client-address'
import type { Request } from 'express'
import type { Session } from '../accounts/sessions.ts'
import type { RecordAddress } from '../addresses/addresses.ts'
import type { ApplyLimit } from '../http/limits.ts'
import type { SignedInUser, TrackerSurface } from '../surface.ts'
import type { ApiTokens, TokenHolder, TokenRefusal } from './api-tokens.ts'
import { type Scope, scopeOf } from './scopes.ts'
import { hashOfToken, isTokenText } from './token-text.ts'

/** Admits requests with an API token to the operations of its scopes, and leaves all others to the guard of sessions. */
export function createTokenGuard(deps: {
  tokens: Pick<ApiTokens, 'find'>
  proxies: TrustedProxies
  applyLimit: ApplyLimit
  recordAddress: Pick<RecordAddress, 'ofText'>
  sessions: Guard<TrackerSurface, SignedInUser>
}): Guard<TrackerSurface, SignedInUser> {
  return async (endpoint, request, response) => {
    const text = tokenOf(request)
    if (text === undefined) return deps.sessions(endpoint, request, response)
    const address = clientAddress(request, deps.proxies)
    const scope = scopeOf(endpoint.operationId)
    const verdict = await deps.tokens.find(text, { scope, address })
    if (verdict.holder) deps.recordAddress.ofText(verdict.holder.account.id, 'api', address)
    const caller = {
      address,
      userAgent: request.get('user-agent') ?? '',
      scope,
      pending: undefined,
      ...WITHOUT_COOKIES,
    }
    // Counted as for a session, or by address if the token names no user.
    const counted = { ...caller, session: verdict.holder && sessionOf(verdict.holder, text) }
    await deps.applyLimit(endpoint.limit, request, response, counted)
    if (verdict.refusal !== undefined) {
      response.setHeader('WWW-Authenticate', challengeOf(verdict.refusal, scope))
      throw verdict.refusal.error
    }
    return { ...caller, session: sessionOf(verdict.holder, text) }
  }
}

/** No operation that a scope opens sets a cookie. */
const WITHOUT_COOKIES = { setSession: () => undefined, clearSession: () => undefined, setPending: () => undefined }

/** RFC 6750, section 3. */
function challengeOf({ reason }: TokenRefusal, scope: Scope | undefined): string {
  if (reason === 'invalid') return 'Bearer error="invalid_token"'
  return reason === 'scope' && scope !== undefined ? `Bearer error="insufficient_scope", scope="${scope}"` : 'Bearer'
}

function sessionOf({ id, account }: TokenHolder, text: string): Session {
  return { id, account, tokenHash: hashOfToken(text).toString('hex'), isStrong: false }
}

/** The API token of an Authorization header (RFC 6750). Other credentials are those of a proxy. */
function tokenOf(request: Request): string | undefined {
  const [, text] = /^bearer +(\S+)$/i.exec(request.get('authorization') ?? '') ?? []
  return text !== undefined && isTokenText(text) ? text : undefined
}
