import {
  clientAddress,
  clientScheme,
  forwardedHost,
  type TrustedProxies,
} from '@vault-and-tracker/service-kit/client-address'
import type { Request, Response } from 'express'
import { readBody } from '../http/input.ts'
import type { SignedRequests, VerifiedCaller } from './signed-requests.ts'

/** Lets requests with a valid signature in. */
export type VerifySignature = (
  request: Request,
  response: Response,
  options: { isWrite: boolean },
) => Promise<VerifiedCaller>

/**
 * Builds what the signature covers from the bytes on the wire: `originalUrl` and the only Host header, or, when the
 * peer is a trusted proxy, the scheme and host it says the client used.
 */
export function createVerifySignature(deps: {
  signedRequests: SignedRequests
  proxies: TrustedProxies
}): VerifySignature {
  const { signedRequests, proxies } = deps
  return async (request, response, { isWrite }) => {
    const authenticated = await signedRequests.authenticate({
      method: request.method,
      scheme: clientScheme(request, proxies),
      target: request.originalUrl,
      rawHeaders: rawHeaders(request, proxies),
    })
    const body = await readBody(request, response)
    return signedRequests.accept(authenticated, { body, address: clientAddress(request, proxies), isWrite })
  }
}

function rawHeaders(request: Request, proxies: TrustedProxies): readonly string[] {
  const host = forwardedHost(request, proxies)
  if (host === undefined) return request.rawHeaders
  const others = request.rawHeaders.filter((_text, i) => request.rawHeaders[i - (i % 2)]?.toLowerCase() !== 'host')
  return [...others, 'Host', host]
}
