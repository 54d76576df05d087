import { type DefineEndpoint, type Description, type Endpoint, endpointsOf } from '@vault-and-tracker/rest'
import type { Administrator } from '../admin/permissions.ts'
import type { ErrorCode } from '../errors.ts'
import type { VerifiedCaller } from '../signed-requests/signed-requests.ts'

/** What the vault's endpoints have in common. */
export type VaultSurface = {
  callers: { admin: Administrator; signature: VerifiedCaller }
  limit: 'fetch' | 'none'
  code: ErrorCode
}

/** An endpoint of the vault; `Deps` are the use cases that its handler calls. */
export type VaultEndpoint<Deps> = Endpoint<VaultSurface, Deps>

/** Returns the function that defines endpoints whose handlers call the given use cases. */
export function endpoints<Deps>(): DefineEndpoint<VaultSurface, Deps> {
  return endpointsOf<VaultSurface, Deps>()
}

const BODY: readonly ErrorCode[] = ['payload_too_large', 'unsupported_media_type', 'invalid_request']
const OF_ACCESS: Readonly<Record<keyof VaultSurface['callers'], readonly ErrorCode[]>> = {
  admin: ['invalid_request', 'unauthorized', 'forbidden', 'rate_limited', 'unavailable', 'internal_error'],
  // The digest of a body is checked whatever the method.
  signature: [
    ...BODY,
    'missing_signature',
    'unknown_project',
    'invalid_signature',
    'expired',
    'replayed_nonce',
    'forbidden',
    'rate_limited',
    'unavailable',
    'internal_error',
  ],
}

/** The codes that an endpoint can answer: its own, and those of its guard and its body. */
export function codesOf(endpoint: Description<VaultSurface>): readonly ErrorCode[] {
  return [...endpoint.errors, ...OF_ACCESS[endpoint.access], ...(endpoint.body === undefined ? [] : BODY)]
}
