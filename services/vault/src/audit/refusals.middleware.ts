import { clientAddress, type TrustedProxies } from '@vault-and-tracker/service-kit/http/client-address'
import type { ErrorRequestHandler } from 'express'
import { type Refusals, refusalOf } from './refusals.ts'

/** Notes requests that were refused, and passes the error on. */
export function noteRefusals(refusals: Pick<Refusals, 'note'>, proxies: TrustedProxies): ErrorRequestHandler {
  // Express tells an error handler by its four parameters.
  return (error: unknown, request, _response, next) => {
    const refusal = refusalOf(error)
    if (refusal !== undefined) refusals.note({ ...refusal, address: clientAddress(request, proxies) })
    next(error)
  }
}
