import type { Serving } from '@vault-and-tracker/rest'
import { apiError } from '../errors.ts'
import { parseJsonBody, readBody } from './body.ts'
import { readQuery } from './query.ts'
import type { VaultSurface } from './surface.ts'

/** How the vault reads and guards requests. HEAD is refused: it would read secrets under a signature made for GET. */
export function servingWith(guards: Serving<VaultSurface>['guards']): Serving<VaultSurface> {
  return {
    guards,
    readQuery: (request, names) => readQuery(request.originalUrl, names),
    readBody: async (_endpoint, request, response, caller) => {
      const bytes = 'body' in caller ? caller.body : await readBody(request, response)
      return { body: parseJsonBody(request, bytes) }
    },
    malformed: ({ name, problem }) =>
      apiError('invalid_request', name === '' ? `the body ${problem}` : `${name}: ${problem}`),
    notFound: () => apiError('not_found'),
    methodNotAllowed: () => apiError('method_not_allowed'),
    answersHead: false,
    guardsMethods: (access) => access === 'admin',
  }
}
