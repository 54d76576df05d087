import type { IncomingMessage } from 'node:http'
import type { TrustedProxies } from '@vault-and-tracker/service-kit/http/client-address'
import type { Request, Response } from 'express'
import { apiError } from '../errors.ts'
import { createWanted, type Wanted } from '../limits/wanted.ts'
import { parseStrictJson } from '../strict-json.ts'

const MAX_BODY_BYTES = 512 * 1024
const NO_BODY = Buffer.alloc(0)

/**
 * Reads the body as received, once per request; empty if there is none. Compressed bodies are refused, because a digest
 * covers the bytes that were sent. A body that is too large is refused based on its declared length, or as soon as it
 * exceeds the limit, and not read further.
 *
 * @param maxBytes 512 KiB by default
 * @throws ApiError payload_too_large, unsupported_media_type; invalid_request if the client disconnects
 */
export async function readBody(request: Request, maxBytes = MAX_BODY_BYTES): Promise<Buffer> {
  if (Buffer.isBuffer(request.body)) return request.body
  const { 'content-length': length, 'transfer-encoding': chunked, 'content-encoding': encoding } = request.headers
  if (chunked === undefined && (length === undefined || length === '0')) return NO_BODY
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw apiError('unsupported_media_type')
  if (Number(length ?? 0) > maxBytes) throw apiError('payload_too_large')
  const body = await collect(request, maxBytes)
  request.body = body
  return body
}

function collect(request: Request, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let bytes = 0
    const take = (piece: Buffer): void => {
      bytes += piece.length
      pieces.push(piece)
      if (bytes <= maxBytes) return
      request.off('data', take).pause()
      reject(apiError('payload_too_large'))
    }
    const fail = (): void => reject(apiError('invalid_request', 'The body could not be read.'))
    if (request.destroyed) fail()
    request.on('data', take)
    request.once('end', () => resolve(Buffer.concat(pieces)))
    // This also follows the end, when it has no effect.
    request.once('close', fail)
  })
}

/**
 * Parses a JSON body. An empty body counts as `{}`.
 *
 * @throws ApiError unsupported_media_type, invalid_request
 */
export function parseJsonBody(request: Request, body: Buffer): unknown {
  if (body.length === 0) return {}
  if (!/^application\/json *(;|$)/i.test(request.headers['content-type'] ?? ''))
    throw apiError('unsupported_media_type')
  return parseStrictJson(body)
}

/** The scheme that the client used: from X-Forwarded-Proto if the socket belongs to a trusted proxy, else its own. */
export function clientScheme(request: IncomingMessage, proxies: TrustedProxies): 'http' | 'https' {
  const direct = 'encrypted' in request.socket && request.socket.encrypted === true ? 'https' : 'http'
  if (!proxies.isTrusted(request.socket.remoteAddress ?? '')) return direct
  const header = request.headers['x-forwarded-proto']
  return header === 'https' || header === 'http' ? header : direct
}

/** X-Forwarded-Host, if the socket belongs to a trusted proxy and the header occurs once. */
export function forwardedHost(request: IncomingMessage, proxies: TrustedProxies): string | undefined {
  const header = request.headers['x-forwarded-host']
  if (typeof header !== 'string' || header === '') return undefined
  return proxies.isTrusted(request.socket.remoteAddress ?? '') ? header : undefined
}

/** Tracks whether the client of a write is still waiting; undefined for a request that only reads. */
export function wantedWrite(response: Response): Wanted | undefined {
  return response.req.method === 'GET' ? undefined : createWanted(whenGone(response))
}

/** Tracks whether a client that waits for something to happen is still connected. */
export function wantedWait(response: Response): Wanted {
  return createWanted(whenGone(response), Infinity)
}

function whenGone(response: Response): (gone: () => void) => void {
  return (gone) => {
    if (response.req.socket.destroyed) gone()
    else response.once('close', gone)
  }
}
