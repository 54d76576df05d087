import { createHash } from 'node:crypto'
import { SignatureError } from './errors.ts'
import { type AcceptedRequest, SignedRequest, type TimelyRequest } from './signed-request.ts'

const MEMBER = /^(sha-256|sha-512)=:([A-Za-z0-9+/]+={0,2}):$/
const HASH = { 'sha-256': 'sha256', 'sha-512': 'sha512' }

/**
 * Checks that a covered Content-Digest is the digest of the received body (RFC 9530). It is the last check before the
 * nonce is spent. A Content-Digest that the signature does not cover is ignored.
 *
 * @param body - The bytes of the body as received, before any decoding; empty if there was none.
 * @param options - `required` refuses a request whose signature does not cover its body; default false.
 * @throws {SignatureError} `invalid_signature` if a digest differs, is malformed, appears twice, or uses another
 * algorithm than sha-256 and sha-512.
 */
export function checkContent(
  request: TimelyRequest,
  body: Uint8Array,
  options: { readonly required?: boolean } = {},
): AcceptedRequest {
  const { contentDigest } = SignedRequest.evidence(request)
  if (contentDigest !== undefined) matchDigests(contentDigest, body)
  else if (options.required === true) throw new SignatureError('invalid_signature', 'the body is not covered')
  return SignedRequest.advance(request, 'accepted')
}

function matchDigests(contentDigest: string, body: Uint8Array): void {
  const seen = new Set<string>()
  for (const member of contentDigest.split(/ *, */)) {
    const [, algorithm, digest] = MEMBER.exec(member) ?? []
    if ((algorithm !== 'sha-256' && algorithm !== 'sha-512') || seen.has(algorithm)) {
      throw new SignatureError('invalid_signature', 'content-digest is not one sha-256 or sha-512 value each')
    }
    seen.add(algorithm)
    // Comparing the texts also refuses other spellings of the same bytes.
    if (createHash(HASH[algorithm]).update(body).digest('base64') !== digest) {
      throw new SignatureError('invalid_signature', 'content-digest does not match the body')
    }
  }
}
