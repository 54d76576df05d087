import { createHash } from 'node:crypto'
import { SignatureError } from './errors.ts'
import { authoritySpellings, profileComponents, signatureBase, WINDOW_MS } from './profile.ts'
import type { VerifyKey } from './public-key.ts'
import {
  type AcceptedRequest,
  type ParsedRequest,
  SignedRequest,
  type TimelyRequest,
  type VerifiedRequest,
} from './signed-request.ts'

/**
 * Verifies the Ed25519 signature over the base rebuilt from the received message (RFC 9421 section 3.2).
 *
 * `keys` are the active keys of `claims.project`. `claims.publicKeyHex` selects one of them, so that a sender cannot
 * supply a key.
 *
 * @throws {SignatureError} `invalid_signature`.
 */
export function verifySignature(request: ParsedRequest, keys: readonly VerifyKey[]): VerifiedRequest {
  const { key, bases, signature } = prepare(request, keys)
  for (const base of bases) if (key.verify(base, signature)) return SignedRequest.advance(request, 'verified')
  throw new SignatureError('invalid_signature', 'the signature does not verify')
}

/**
 * `verifySignature` on a thread of libuv's pool. It frees the event loop of a server for the tenth of a millisecond that a
 * verification takes. A single caller waits slightly longer.
 *
 * @throws {SignatureError} `invalid_signature`.
 */
export async function verifySignatureOffThread(
  request: ParsedRequest,
  keys: readonly VerifyKey[],
): Promise<VerifiedRequest> {
  const { key, bases, signature } = prepare(request, keys)
  for (const base of bases)
    if (await key.verifyOffThread(base, signature)) return SignedRequest.advance(request, 'verified')
  throw new SignatureError('invalid_signature', 'the signature does not verify')
}

/** The sender's key, and the bases that it may have signed: one per spelling of the authority. */
function prepare(request: ParsedRequest, keys: readonly VerifyKey[]) {
  const key = keys.find(({ publicKeyHex }) => publicKeyHex === request.claims.publicKeyHex)
  if (key === undefined) throw new SignatureError('invalid_signature', 'pubkey is not a valid key of the project')

  const { method, scheme, target, host, contentDigest, signatureParams, signature } = SignedRequest.evidence(request)
  const bases = authoritySpellings(host, scheme).map((authority) => {
    const targetUri = `${scheme}://${authority}${target}`
    const base = signatureBase(profileComponents({ method, authority, targetUri, contentDigest }), signatureParams)
    // The parser has checked that the base is ASCII.
    return Buffer.from(base, 'latin1')
  })
  return { key, bases, signature }
}

/**
 * Checks that the request was signed at most five minutes before or after `now`, both ends included.
 *
 * `expires` needs no check because it is `created + 300`, which is the end of the window. A request that is dated five
 * minutes ahead is acceptable for ten minutes, so store nonces at least that long.
 *
 * @param now - Milliseconds since 1970, the verifier's clock. This package has none.
 * @throws {SignatureError} `expired`.
 */
export function checkWindow(request: VerifiedRequest, now: number): TimelyRequest {
  // This form also fails for a `now` of NaN.
  const inside = Math.abs(now - request.claims.created * 1000) <= WINDOW_MS
  if (!inside) throw new SignatureError('expired', 'created is more than 5 minutes away from now')
  return SignedRequest.advance(request, 'timely')
}

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
