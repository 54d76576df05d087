import { createApi, createRead } from '@vault-and-tracker/web-kit/api'
import { createAccountGuard } from '@vault-and-tracker/web-kit/start'
import type { paths } from '../../generated/openapi.ts'

/** The administrator that the page shows. */
export const account = createAccountGuard()

/** The vault's API. The browser sends the cookie of the session. */
export const api = createApi<paths>()

api.use({
  onRequest: ({ schemaPath, request }) => {
    const isSignIn = schemaPath === '/v1/sign-in' || (schemaPath === '/v1/admin/session' && request.method === 'POST')
    if (!isSignIn) account.require()
  },
})

/** Reads a response. The vault sends some of its codes without a message. */
export const read = createRead({
  project_exists: 'name: a project with this name already exists',
  invalid_public_key: 'publicKey: this is not an Ed25519 public key',
  rate_limited: 'Too many requests.',
})
