import { type Guard, runMiddleware } from '@vault-and-tracker/rest'
import {
  clientAddress,
  clientScheme,
  forwardedHost,
  type TrustedProxies,
} from '@vault-and-tracker/service-kit/client-address'
import type { Request, RequestHandler, Response } from 'express'
import { readBody } from '../http/input.ts'
import type { VaultSurface } from '../http/surface.ts'
import type { SignedRequests, VerifiedCaller } from './signed-requests.ts'

/**
 * Lets requests with a valid signature in. What the signature covers is made of the bytes on the wire: `originalUrl` and
 * the only Host header, or, when the peer is a trusted proxy, the scheme and host that it names for the client.
 *
 * @param deps `answerBudget` refuses fetches while too many answers are unread; `fetchLimit` counts fetches, before their signature is verified; `limitWrite` counts a write of a project
 */
export function createSignatureGuard(deps: {
  signedRequests: SignedRequests
  proxies: TrustedProxies
  answerBudget: RequestHandler
  fetchLimit: RequestHandler
  limitWrite: (project: string, request: Request, response: Response) => Promise<void>
}): Guard<VaultSurface, VerifiedCaller> {
  const { signedRequests, proxies, answerBudget, fetchLimit, limitWrite } = deps

  async function verify(request: Request, response: Response, isWrite: boolean): Promise<VerifiedCaller> {
    const authenticated = await signedRequests.authenticate({
      method: request.method,
      scheme: clientScheme(request, proxies),
      target: request.originalUrl,
      rawHeaders: rawHeaders(request, proxies),
    })
    const body = await readBody(request, response)
    const address = clientAddress(request, proxies)
    const caller = await signedRequests.accept(authenticated, { body, address, isWrite })
    // After the nonce: whoever has somebody's request and repeats it does not use up their writes.
    if (request.method !== 'GET') await limitWrite(caller.project, request, response)
    return caller
  }

  return ({ limit, method }, request, response) => {
    const isWrite = method === 'PUT'
    if (limit === 'none') return verify(request, response, isWrite)
    return signedRequests.countFetch(async () => {
      await runMiddleware(answerBudget, request, response)
      await runMiddleware(fetchLimit, request, response)
      return verify(request, response, isWrite)
    })
  }
}

function rawHeaders(request: Request, proxies: TrustedProxies): readonly string[] {
  const host = forwardedHost(request, proxies)
  if (host === undefined) return request.rawHeaders
  const others = request.rawHeaders.filter((_text, i) => request.rawHeaders[i - (i % 2)]?.toLowerCase() !== 'host')
  return [...others, 'Host', host]
}
