import { createApi, createRead } from '@vault-and-tracker/web-kit/api'
import type { paths } from './schema.ts'
import { session } from './session.ts'

/** The vault's API, with the token of whoever is signed in. */
export const api = createApi<paths>()

api.use({
  onRequest: ({ request }) => {
    const token = session.token()
    if (token !== undefined && !request.headers.has('Authorization'))
      request.headers.set('Authorization', bearer(token))
    return request
  },
})

/** The value of the header `Authorization` (RFC 6750 section 2.1). */
export function bearer(token: string): string {
  return `Bearer ${token}`
}

/** Reads an answer; the vault answers some of its codes without a sentence. */
export const read = createRead({
  project_exists: 'name: there is a project with this name already',
  invalid_public_key: 'publicKey: this is not an Ed25519 public key',
  rate_limited: 'Too many requests.',
})
