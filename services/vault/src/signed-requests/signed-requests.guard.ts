import type { ReceivedMessage } from '@vault-and-tracker/http-signatures'
import type { Guard } from '@vault-and-tracker/rest'
import {
  addressKey,
  clientAddress,
  clientScheme,
  forwardedHost,
  type TrustedProxies,
} from '@vault-and-tracker/service-kit/http/client-address'
import type { RateLimit } from '@vault-and-tracker/service-kit/http/rate-limit'
import type { Request, Response } from 'express'
import { apiError } from '../errors.ts'
import { readBody } from '../http/input.ts'
import type { VaultSurface } from '../http/surface.ts'
import { wantedWrite } from '../http/wanted-write.ts'
import type { SignedRequests, VerifiedCaller } from './signed-requests.ts'

/** What waits to be read by the clients of a project. */
export type Answers = {
  /** Whether a project may ask for more. */
  hasRoom(projectUid: string): boolean
  /** Counts an answer for a project. */
  own(response: Response, projectUid: string): void
}

/**
 * Lets requests with a valid signature in. What the signature covers is made of the bytes on the wire: `originalUrl` and
 * the only Host header, or, when the peer is a trusted proxy, the scheme and host that it names for the client.
 *
 * @param deps `fetchLimit` counts fetches, before their signature is verified; `answers` counts for a project what it
 *   does not read; `limitWrite` counts a write of a project
 */
export function createSignatureGuard(deps: {
  signedRequests: SignedRequests
  proxies: TrustedProxies
  fetchLimit: RateLimit
  answers: Answers
  limitWrite: RateLimit
}): Guard<VaultSurface, VerifiedCaller> {
  const { signedRequests, proxies, fetchLimit, answers, limitWrite } = deps

  /** Before a nonce is spent: the same request may be sent again. */
  function admitFetch(projectUid: string, response: Response): void {
    if (!answers.hasRoom(projectUid))
      throw apiError('unavailable', 'The project leaves too many of its answers unread; nothing was done.')
    answers.own(response, projectUid)
  }

  async function verify(request: Request, response: Response, isWrite: boolean): Promise<VerifiedCaller> {
    const authenticated = await signedRequests.authenticate(receivedMessage(request, proxies))
    if (request.method === 'GET') admitFetch(authenticated.signer.uid, response)
    const body = await readBody(request)
    const address = clientAddress(request, proxies)
    const caller = await signedRequests.accept(authenticated, { body, address, isWrite, wanted: wantedWrite(response) })
    // After the nonce: whoever has somebody's request and repeats it does not use up their writes.
    if (request.method !== 'GET') await limitWrite(caller.project, request, response)
    return caller
  }

  return ({ limit, method }, request, response) => {
    const isWrite = method === 'PUT'
    if (limit === 'none') return verify(request, response, isWrite)
    return signedRequests.countFetch(async () => {
      await fetchLimit(addressKey(clientAddress(request, proxies)), request, response)
      return verify(request, response, isWrite)
    })
  }
}

/** What a signature covers, as it is on the wire. */
export function receivedMessage(request: Request, proxies: TrustedProxies): ReceivedMessage {
  return {
    method: request.method,
    scheme: clientScheme(request, proxies),
    target: request.originalUrl,
    rawHeaders: rawHeaders(request, proxies),
  }
}

function rawHeaders(request: Request, proxies: TrustedProxies): readonly string[] {
  const host = forwardedHost(request, proxies)
  if (host === undefined) return request.rawHeaders
  const others = request.rawHeaders.filter((_text, i) => request.rawHeaders[i - (i % 2)]?.toLowerCase() !== 'host')
  return [...others, 'Host', host]
}
