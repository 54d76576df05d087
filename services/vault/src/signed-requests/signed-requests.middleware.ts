import {
  clientAddress,
  clientScheme,
  forwardedHost,
  type TrustedProxies,
} from '@vault-and-tracker/service-kit/client-address'
import type { Request, RequestHandler, Response } from 'express'
import { readBody } from '../http.ts'
import type { Guard } from '../limits/limits.middleware.ts'
import type { SignedBy, SignedRequests } from './signed-requests.ts'

/** What a handler of a signed request gets. */
export type SignedInput = Readonly<{ caller: SignedBy & { ip: string }; body: Buffer; request: Request }>

/** Makes a handler that runs only for requests with a good signature. */
export type Signed = (
  options: { isWrite: boolean },
  handle: (input: SignedInput, response: Response) => Promise<(() => void) | 'stale'>,
) => RequestHandler

/**
 * Builds what the signature covers from the bytes on the wire: `originalUrl` and the only Host header, or, when the
 * peer is a trusted proxy, the scheme and host it says the client used.
 */
export function createSigned(deps: { signedRequests: SignedRequests; guard: Guard; proxies: TrustedProxies }): Signed {
  const { signedRequests, guard, proxies } = deps
  return ({ isWrite }, handle) =>
    async (request, response) => {
      const ip = clientAddress(request, proxies)
      const signed = {
        message: {
          method: request.method,
          scheme: clientScheme(request, proxies),
          target: request.originalUrl,
          rawHeaders: rawHeaders(request, proxies),
        },
        readBody: () => readBody(request, response),
        isWrite,
      }
      const answer = await guard(request, response, () =>
        signedRequests.run(signed, (caller, body) => handle({ caller: { ...caller, ip }, body, request }, response)),
      )
      answer()
    }
}

function rawHeaders(request: Request, proxies: TrustedProxies): readonly string[] {
  const host = forwardedHost(request, proxies)
  if (host === undefined) return request.rawHeaders
  const others = request.rawHeaders.filter((_text, i) => request.rawHeaders[i - (i % 2)]?.toLowerCase() !== 'host')
  return [...others, 'Host', host]
}
