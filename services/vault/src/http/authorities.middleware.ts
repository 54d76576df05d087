import type { IncomingMessage } from 'node:http'
import { forwardedHost, type TrustedProxies } from '@vault-and-tracker/service-kit/http/client-address'
import { hasTooManyFields } from '@vault-and-tracker/service-kit/http/server'
import type { RequestHandler } from 'express'
import { apiError } from '../errors.ts'
import type { Authorities } from './authorities.ts'

/**
 * Refuses requests for other authorities (RFC 9110 section 15.5.20): a signature that a false address has received would
 * otherwise be good here. A request without Host goes on; no signature of one is accepted.
 */
export function ownAuthoritiesOnly(authorities: Authorities, proxies: TrustedProxies): RequestHandler {
  return (request, _response, next) => {
    const forwarded = forwardedHost(request, proxies)
    const hosts = forwarded === undefined ? hostsOf(request) : [forwarded]
    if (!hosts.every((host) => authorities.isOurs(host))) throw apiError('misdirected_request')
    next()
  }
}

/** Node keeps the first of several Host headers only. */
function hostsOf({ rawHeaders, headers: { host } }: IncomingMessage): readonly string[] {
  const all: string[] = []
  for (let i = 0; i + 1 < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') all.push(rawHeaders[i + 1] ?? '')
  return all.length > 0 || host === undefined ? all : [host]
}

/**
 * Refuses every transfer coding but `chunked` alone (RFC 9112 section 6.1): a proxy and Node may disagree on where such a
 * body ends. The same holds for more header fields than Node keeps: among the others there may be a second Host or length.
 * The connection is closed, since the next request on it may begin anywhere.
 */
export const plainFramingOnly: RequestHandler = (request, response, next) => {
  if (hasTooManyFields(request)) {
    response.setHeader('Connection', 'close')
    throw apiError('invalid_request', 'The request has more than 100 header fields.')
  }
  const coding = request.headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    response.setHeader('Connection', 'close')
    throw apiError('invalid_request', 'The only Transfer-Encoding that is accepted is chunked.')
  }
  next()
}
