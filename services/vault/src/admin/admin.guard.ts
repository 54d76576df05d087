import type { Around, Guard } from '@vault-and-tracker/rest'
import type { Request, Response } from 'express'
import { forbidden } from '../audit/refusals.ts'
import { apiError } from '../errors.ts'
import type { VaultSurface } from '../http/surface.ts'
import { wantedWrite } from '../http/wanted-write.ts'
import { bearerToken, type TokenCheck } from './admin-token.ts'
import type { SignedInAdministrator } from './administrators.ts'
import { type Administrator, mayUse } from './permissions.ts'

/** Finds out which administrator makes a request. A missing token and a wrong one get the same answer. */
export type IdentifyAdministrator = (request: Request, response: Response) => Promise<Administrator>

/** Lets requests with an admin token in: the one of the configuration, or that of a named administrator. */
export function createIdentifyAdministrator(deps: {
  isToken: TokenCheck
  findByToken: (token: string) => Promise<SignedInAdministrator | undefined>
  limitFailures: Around
  addressOf: (request: Request) => string
}): IdentifyAdministrator {
  const { isToken, findByToken, limitFailures, addressOf } = deps

  async function identify(request: Request, response: Response): Promise<Administrator | undefined> {
    const address = addressOf(request)
    const token = bearerToken(request.headers.authorization)
    if (token === undefined) return undefined
    const known = { kind: 'administrator', address, wanted: wantedWrite(response) } as const
    if (isToken(token)) return { ...known, actor: 'administrator', role: 'holder', projects: null, unbound: [] }
    const named = await findByToken(token)
    if (named === undefined) return undefined
    const { id, role, bound: projects, unbound } = named
    return { ...known, actor: `administrator:${id}`, role, projects, unbound }
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
  limitWrite: (actor: string, request: Request, response: Response) => Promise<void>,
): Guard<VaultSurface, Administrator> {
  return async ({ method, path, params }, request, response) => {
    const administrator = await identify(request, response)
    // A malformed id is one of nothing for every administrator, and nothing is recorded under it.
    const isMalformed = params?.safeParse(request.params).success === false
    if (isMalformed && request.method === method) throw apiError('not_found')
    const { id } = request.params
    const namesProject = path.startsWith('/v1/admin/projects/:id') && !isMalformed
    const project = namesProject && typeof id === 'string' ? id : undefined
    if (!mayUse(administrator, { method, path, project })) throw forbidden(administrator.actor, project ?? '')
    if (method !== 'GET') await limitWrite(administrator.actor, request, response)
    return administrator
  }
}
