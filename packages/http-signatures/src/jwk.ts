import { from32BytesBase64Url } from './encoding.ts'

const MAX_JWK_LENGTH = 4096

/** An Ed25519 JWK (RFC 8037 section 2), read strictly. `d` is 'absent' in a public key. */
export type OkpJwk = { readonly x: Uint8Array; readonly d: Uint8Array | 'absent' }

/**
 * Reads a JWK JSON string: kty OKP, crv Ed25519, x and d in canonical base64url. Other members are ignored.
 *
 * Returns undefined for anything else, without a reason, because the text may contain a private key, which the errors
 * of JSON.parse would quote.
 */
export function readOkpJwk(text: string): OkpJwk | undefined {
  const jwk = parseObject(text)
  if (jwk?.get('kty') !== 'OKP' || jwk.get('crv') !== 'Ed25519') return undefined
  const x = bytes(jwk.get('x'))
  const d = jwk.has('d') ? bytes(jwk.get('d')) : 'absent'
  return x === undefined || d === undefined ? undefined : { x, d }
}

function parseObject(text: string): ReadonlyMap<string, unknown> | undefined {
  if (text.length > MAX_JWK_LENGTH) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : undefined
  } catch {
    return undefined
  }
}

function bytes(value: unknown): Uint8Array | undefined {
  return typeof value === 'string' ? from32BytesBase64Url(value) : undefined
}
