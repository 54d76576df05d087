import { clientAddress, type TrustedProxies } from '@vault-and-tracker/service-kit/client-address'
import type { ErrorRequestHandler } from 'express'
import { ERRORS, isApiError } from '../errors.ts'
import type { Refusals } from './refusals.ts'

/** What is refused before anybody knows who asks: signatures, tokens, and addresses that ask too often. */
const STATUSES: readonly number[] = [401, 421, 429]

/** Notes requests that were refused, and passes the error on. */
export function noteRefusals(refusals: Pick<Refusals, 'note'>, proxies: TrustedProxies): ErrorRequestHandler {
  // Express tells an error handler by its four parameters.
  return (error: unknown, request, _response, next) => {
    if (isApiError(error) && STATUSES.includes(ERRORS[error.code].status))
      refusals.note({
        address: clientAddress(request, proxies),
        actor: 'unknown',
        projectId: '',
        code: error.code,
      })
    next(error)
  }
}
