import { createHash } from 'node:crypto'
import { bodyBytes, type RequestToSign, type SignatureHeaders, signPrepared } from './prepare-request.ts'

const HASH = { 'sha-256': 'sha256', 'sha-512': 'sha512' }

/**
 * Signs a request (RFC 9421 section 3.1) and returns the headers to send with it.
 *
 * The URL is signed as fetch sends it: normalised, without fragment. Pass `new URL(url).href` to clients that send URLs
 * unchanged.
 *
 * @throws {SignatureError} `invalid_input` if a part of the request cannot be signed under this profile.
 */
export function signRequest(request: RequestToSign): SignatureHeaders {
  const { body, digest = 'sha-256' } = request
  if (body === undefined) return signPrepared(request, undefined)
  return signPrepared(request, `${digest}=:${createHash(HASH[digest]).update(bodyBytes(body)).digest('base64')}:`)
}
