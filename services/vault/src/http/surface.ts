import { type DefineEndpoint, type Description, type Endpoint, endpointsOf } from '@vault-and-tracker/rest'
import type { Administrator } from '../access/administrator.ts'
import type { Exchanger, ProjectCaller } from '../access/project-caller.ts'
import type { ErrorCode } from '../errors.ts'

/** A requester who is not authenticated. */
type Visitor = {
  readonly kind: 'visitor'
  /** Whether the request has the cookie of a session, which may have ended. */
  readonly hasSession: boolean
}

/** The callers, limits and error codes of the vault's endpoints. */
export type VaultSurface = {
  callers: { admin: Administrator; signature: ProjectCaller; idToken: Exchanger; anyone: Visitor }
  limit: 'fetch' | 'changes' | 'none'
  code: ErrorCode
}

/** An endpoint of the vault; `Deps` are the use cases that its handler calls. */
export type VaultEndpoint<Deps> = Endpoint<VaultSurface, Deps>

/** Returns the function that defines endpoints whose handlers call the given use cases. */
export function endpoints<Deps>(): DefineEndpoint<VaultSurface, Deps> {
  return endpointsOf<VaultSurface, Deps>()
}

/** The shared parts of all endpoints for administrators. */
export const adminEndpoint = { tag: 'administration', access: 'admin', limit: 'none' } as const

const BODY: readonly ErrorCode[] = ['payload_too_large', 'unsupported_media_type', 'invalid_request']
const OF_ACCESS: Readonly<Record<keyof VaultSurface['callers'], readonly ErrorCode[]>> = {
  admin: [
    ...(['misdirected_request', 'invalid_request', 'unauthorized', 'forbidden', 'rate_limited'] as const),
    ...(['unavailable', 'internal_error'] as const),
  ],
  anyone: ['misdirected_request', 'invalid_request', 'internal_error'],
  idToken: ['misdirected_request', 'rate_limited', 'unavailable', 'internal_error'],
  // The digest of a body is checked for every method.
  signature: [
    ...BODY,
    ...(['misdirected_request', 'missing_signature', 'unknown_project', 'invalid_signature', 'expired'] as const),
    ...(['replayed_nonce', 'forbidden', 'rate_limited', 'unavailable', 'internal_error'] as const),
  ],
}

/** The error codes of an endpoint: its own, and those of its guard and its body. */
export function codesOf(endpoint: Description<VaultSurface>): readonly ErrorCode[] {
  return [...endpoint.errors, ...OF_ACCESS[endpoint.access], ...(endpoint.body === undefined ? [] : BODY)]
}
