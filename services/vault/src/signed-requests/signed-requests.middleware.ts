import {
  clientAddress,
  clientScheme,
  forwardedHost,
  type TrustedProxies,
} from '@vault-and-tracker/service-kit/client-address'
import type { Request, Response } from 'express'
import type { LimitFailures } from '../http/failure-limit.middleware.ts'
import { readBody } from '../http/input.ts'
import type { SignedRequests, VerifiedCaller } from './signed-requests.ts'

/** Lets requests with a good signature in. */
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
  limitFailures: LimitFailures
  proxies: TrustedProxies
}): VerifySignature {
  const { signedRequests, limitFailures, proxies } = deps
  return (request, response, { isWrite }) => {
    let body: Promise<Buffer> | undefined
    const signed = {
      message: {
        method: request.method,
        scheme: clientScheme(request, proxies),
        target: request.originalUrl,
        rawHeaders: rawHeaders(request, proxies),
      },
      readBody: () => (body ??= readBody(request, response)),
      isWrite,
    }
    const ip = clientAddress(request, proxies)
    const verify = async (fresh: boolean): Promise<VerifiedCaller> => {
      const caller = await limitFailures(request, response, () => signedRequests.verify(signed, { fresh }))
      return { ...caller, ip, verifyAgain: () => verify(true) }
    }
    return verify(false)
  }
}

function rawHeaders(request: Request, proxies: TrustedProxies): readonly string[] {
  const host = forwardedHost(request, proxies)
  if (host === undefined) return request.rawHeaders
  const others = request.rawHeaders.filter((_text, i) => request.rawHeaders[i - (i % 2)]?.toLowerCase() !== 'host')
  return [...others, 'Host', host]
}
