import { toBase64 } from '../encoding.ts'
import { bodyBytes, type RequestToSign, type SignatureHeaders, signPrepared } from '../prepare-request.ts'

const HASH = { 'sha-256': 'SHA-256', 'sha-512': 'SHA-512' }

/**
 * Returns the same bytes as `signRequest` of the main entry without node:crypto. It is asynchronous because Web
 * Crypto's digest is.
 *
 * @throws {SignatureError} `invalid_input` (as a rejection) if a part cannot be signed under this profile.
 */
export async function signRequest(request: RequestToSign): Promise<SignatureHeaders> {
  const { body, digest = 'sha-256' } = request
  if (body === undefined) return signPrepared(request, undefined)
  const hash = await crypto.subtle.digest(HASH[digest], bodyBytes(body))
  return signPrepared(request, `${digest}=:${toBase64(new Uint8Array(hash))}:`)
}
