import type { ReceivedMessage } from '@vault-and-tracker/http-signatures'
import type { Guard } from '@vault-and-tracker/rest'
import { addressKey, clientAddress, type TrustedProxies } from '@vault-and-tracker/service-kit/http/client-address'
import type { RateLimit } from '@vault-and-tracker/service-kit/http/rate-limit'
import type { UnreadAnswers } from '@vault-and-tracker/service-kit/http/unread-answers'
import type { Request, Response } from 'express'
import type { ProjectCaller } from '../access/project-caller.ts'
import { apiError } from '../errors.ts'
import { clientScheme, forwardedHost, readBody, wantedWait, wantedWrite } from '../http/input.ts'
import type { VaultSurface } from '../http/surface.ts'
import { withHost } from './hidden-origin.ts'
import type { SignedRequests } from './signed-requests.ts'

/**
 * Lets requests with a valid signature in. The signature covers the bytes on the wire: `originalUrl` and the Host header,
 * or the scheme and host that a trusted proxy forwards.
 *
 * @param deps `readLimits` count fetches, and requests for changes, before their signature is verified; `limitWrite` counts
 *   a write of a project; a project with more than `maxUnreadBytes` of unread responses gets no more
 */
export function createSignatureGuard(deps: {
  signedRequests: SignedRequests
  proxies: TrustedProxies
  readLimits: { readonly fetch: RateLimit; readonly changes: RateLimit }
  limitWrite: RateLimit
  unread: UnreadAnswers
  maxUnreadBytes: number
}): Guard<VaultSurface, ProjectCaller> {
  const { signedRequests, proxies, readLimits, limitWrite, unread, maxUnreadBytes } = deps

  async function verify(request: Request, response: Response, waits: boolean): Promise<ProjectCaller> {
    const isRead = request.method === 'GET'
    const authenticated = await signedRequests.authenticate(receivedMessage(request, proxies))
    // Before the nonce is spent, so that the same request can be sent again.
    if (isRead) admitFetch(authenticated.signer.uid, response)
    const caller = await signedRequests.accept(authenticated, {
      body: await readBody(request),
      address: clientAddress(request, proxies),
      isWrite: request.method === 'PUT',
      wanted: waits ? wantedWait(response) : wantedWrite(response),
    })
    // After the nonce is spent, so that a replayed request does not use up the project's writes.
    if (!isRead) await limitWrite(caller.project, request, response)
    return caller
  }

  function admitFetch(projectUid: string, response: Response): void {
    if (unread.overdueBytesOf(projectUid) > maxUnreadBytes)
      throw apiError('unavailable', 'The project has too many unread responses. Read them, then try again.')
    unread.own(response, projectUid)
  }

  return ({ limit }, request, response) => {
    if (limit === 'none') return verify(request, response, false)
    return signedRequests.countFetch(async () => {
      await readLimits[limit](addressKey(clientAddress(request, proxies)), request, response)
      return verify(request, response, limit === 'changes')
    })
  }
}

/** The parts of a request that a signature covers. */
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
  return host === undefined ? request.rawHeaders : withHost(request.rawHeaders, host)
}
