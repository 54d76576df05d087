import { createApi, createRead } from '@vault-and-tracker/web-kit/api'
import type { paths } from '../../generated/openapi.ts'
import { currentToken } from './session.ts'

/** The vault's API, with the token of the session. */
export const api = createApi<paths>()

api.use({
  onRequest: ({ request }) => {
    const token = currentToken()
    if (token !== undefined && !request.headers.has('Authorization'))
      request.headers.set('Authorization', bearer(token))
    return request
  },
})

/** The value of the header `Authorization` (RFC 6750 section 2.1). */
export function bearer(token: string): string {
  return `Bearer ${token}`
}

/** Reads a response. The vault sends some of its codes without a message. */
export const read = createRead({
  project_exists: 'name: a project with this name already exists',
  invalid_public_key: 'publicKey: this is not an Ed25519 public key',
  rate_limited: 'Too many requests.',
})
