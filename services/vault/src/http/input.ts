import type { Request } from 'express'
import { apiError } from '../errors.ts'
import { parseStrictJson } from '../json/strict-json.ts'

const MAX_BODY_BYTES = 512 * 1024
const NO_BODY = Buffer.alloc(0)

/**
 * The bytes of the body as received, empty when there is none. They are read once and kept with the request. Compressed
 * bodies are refused, since a digest of the inflated bytes would not be one of what was received. A body that is too large
 * is refused by the length it declares, or as soon as it is longer, and not read on.
 *
 * @throws ApiError payload_too_large, unsupported_media_type; invalid_request when the client ends before the body
 */
export async function readBody(request: Request): Promise<Buffer> {
  if (Buffer.isBuffer(request.body)) return request.body
  const { 'content-length': length, 'transfer-encoding': chunked, 'content-encoding': encoding } = request.headers
  if (chunked === undefined && (length === undefined || length === '0')) return NO_BODY
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw apiError('unsupported_media_type')
  if (Number(length ?? 0) > MAX_BODY_BYTES) throw apiError('payload_too_large')
  const body = await collect(request)
  request.body = body
  return body
}

function collect(request: Request): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let bytes = 0
    const take = (piece: Buffer): void => {
      bytes += piece.length
      pieces.push(piece)
      if (bytes <= MAX_BODY_BYTES) return
      request.off('data', take).pause()
      reject(apiError('payload_too_large'))
    }
    const fail = (): void => reject(apiError('invalid_request', 'The body could not be read.'))
    if (request.destroyed) fail()
    request.on('data', take)
    request.once('end', () => resolve(Buffer.concat(pieces)))
    // Also after the end, when nothing is left to refuse.
    request.once('close', fail)
  })
}

/**
 * The JSON in a body. No body at all counts as `{}`.
 *
 * @throws ApiError unsupported_media_type, invalid_request
 */
export function parseJsonBody(request: Request, body: Buffer): unknown {
  if (body.length === 0) return {}
  if (!/^application\/json *(;|$)/i.test(request.headers['content-type'] ?? ''))
    throw apiError('unsupported_media_type')
  return parseStrictJson(body)
}
