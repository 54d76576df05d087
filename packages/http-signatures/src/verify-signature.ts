import { authoritySpellings } from './authority.ts'
import type { VerifyKey } from './create-verify-key.ts'
import { SignatureError } from './errors.ts'
import { profileComponents, signatureBase } from './signature-base.ts'
import { type ParsedRequest, SignedRequest, type VerifiedRequest } from './signed-request.ts'

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
