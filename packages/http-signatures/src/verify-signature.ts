import { authoritySpellings } from './authority.ts'
import type { VerifyKey } from './create-verify-key.ts'
import { SignatureError } from './errors.ts'
import { profileComponents, signatureBase } from './signature-base.ts'
import { type ParsedRequest, SignedRequest, type VerifiedRequest } from './signed-request.ts'

/**
 * Verifies the Ed25519 signature over the base rebuilt from the received message (RFC 9421 section 3.2).
 *
 * `keys` are the keys of `claims.project` that are valid now. `claims.publicKeyHex` picks among them; a key that is not
 * among them is refused, so a sender cannot bring its own.
 *
 * @throws {SignatureError} `invalid_signature`.
 */
export function verifySignature(request: ParsedRequest, keys: readonly VerifyKey[]): VerifiedRequest {
  const key = keys.find(({ publicKeyHex }) => publicKeyHex === request.claims.publicKeyHex)
  if (key === undefined) throw new SignatureError('invalid_signature', 'pubkey is not a valid key of the project')

  const { method, scheme, target, host, contentDigest, signatureParams, signature } = SignedRequest.evidence(request)
  for (const authority of authoritySpellings(host, scheme)) {
    const targetUri = `${scheme}://${authority}${target}`
    const base = signatureBase(profileComponents({ method, authority, targetUri, contentDigest }), signatureParams)
    // Everything in the base was checked to be ASCII.
    if (key.verify(Buffer.from(base, 'latin1'), signature)) return SignedRequest.advance(request, 'verified')
  }
  throw new SignatureError('invalid_signature', 'the signature does not verify')
}
