import type { Guard } from '@vault-and-tracker/rest'
import { addressKey, clientAddress, type TrustedProxies } from '@vault-and-tracker/service-kit/http/client-address'
import { z } from 'zod'
import { KEY_NAME, PROJECT_NAME } from '../access/names.ts'
import type { Exchanger } from '../access/project-caller.ts'
import { OK, ok, presentScope, publicKey, scopeAnswer, time } from '../http/fields.ts'
import { wantedWrite } from '../http/input.ts'
import { endpoints, type VaultSurface } from '../http/surface.ts'
import type { Exchanges } from './exchanges.ts'
import { MAX_TOKEN_LENGTH } from './id-tokens.ts'

const endpoint = endpoints<{ exchanges: Exchanges }>()

/** Keys for ID tokens. */
export const exchangeEndpoints = [
  endpoint({
    tag: 'secrets',
    access: 'idToken',
    limit: 'none',
    method: 'POST',
    path: '/v1/keys/exchange',
    operationId: 'exchangeKey',
    summary: 'Exchange an ID token that a trust rule accepts for a short-lived key',
    body: z.strictObject({
      idToken: z.string().min(1).max(MAX_TOKEN_LENGTH).meta({ description: 'A JWT, which is accepted once.' }),
      publicKey,
      project: z
        .string()
        .regex(PROJECT_NAME, 'must be the name of a project')
        .optional()
        .meta({ description: 'Required if rules of several projects accept the token.' }),
      rule: z
        .string()
        .regex(KEY_NAME, 'must be the name of a trust rule')
        .optional()
        .meta({ description: 'Required if several rules of the project accept the token.' }),
    }),
    status: 201,
    answer: ok.extend({ project: z.string(), expiresAt: time, scope: scopeAnswer }),
    errors: ['invalid_public_key', 'invalid_id_token', 'no_trust_rule', 'key_exists', 'too_many_keys'],
    handle: async ({ body, caller }, { exchanges }) => {
      const { idToken, publicKey, project, rule } = body
      const admitted = await exchanges.exchange({ idToken, publicKey, project, rule, by: caller })
      return {
        ...{ ...OK, project: admitted.project, expiresAt: admitted.expiresAt.toISOString() },
        scope: presentScope(admitted.scope),
      }
    },
  }),
]

/** Lets every request in: the ID token in its body is verified by the handler. */
export function createExchangeGuard(proxies: TrustedProxies): Guard<VaultSurface, Exchanger> {
  return (_endpoint, request, response) => {
    const address = clientAddress(request, proxies)
    return Promise.resolve({
      ...{ kind: 'exchanger' as const, address, client: addressKey(address), wanted: wantedWrite(response) },
    })
  }
}
