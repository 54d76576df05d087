import type { Around } from '@vault-and-tracker/rest'
import type { Request, Response } from 'express'
import { apiError } from '../errors.ts'
import type { Administrator } from '../http/surface.ts'
import { bearerToken, type TokenCheck } from './admin-token.ts'

/** Finds out which administrator makes a request. A missing token and a wrong one get the same answer. */
export type IdentifyAdministrator = (request: Request, response: Response) => Promise<Administrator>

/** Lets requests with the admin token in. */
export function createIdentifyAdministrator(deps: {
  isToken: TokenCheck
  limitFailures: Around
  addressOf: (request: Request) => string
}): IdentifyAdministrator {
  const { isToken, limitFailures, addressOf } = deps
  return async (request, response) => {
    await limitFailures(request, response, () => {
      const token = bearerToken(request.headers.authorization)
      if (token !== undefined && isToken(token)) return Promise.resolve()
      response.setHeader('WWW-Authenticate', 'Bearer')
      return Promise.reject(apiError('unauthorized'))
    })
    return { kind: 'administrator', actor: 'administrator', address: addressOf(request) }
  }
}
