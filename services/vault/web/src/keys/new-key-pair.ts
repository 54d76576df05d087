/** A key pair as the vault and its clients take it. */
export type NewKeyPair = {
  /** 64 hex digits. */
  readonly publicKeyHex: string
  /** A JWK as a JSON string (RFC 8037 section 2). It never leaves the page, but for the file that is saved. */
  readonly privateJwk: string
}

/**
 * Makes an Ed25519 key pair in this browser: by Web Crypto, or where that does not know Ed25519 or is missing, as outside of
 * HTTPS, by tweetnacl.
 */
export async function newKeyPair(): Promise<NewKeyPair> {
  const { d, x } = (await byWebCrypto()) ?? {}
  if (d !== undefined && x !== undefined)
    return { publicKeyHex: hexOf(x), privateJwk: JSON.stringify({ kty: 'OKP', crv: 'Ed25519', d, x }) }
  const { generateKeyPair } = await import('@vault-and-tracker/http-signatures/portable')
  const { publicKeyHex, privateJwk } = generateKeyPair()
  return { publicKeyHex, privateJwk }
}

async function byWebCrypto(): Promise<JsonWebKey | undefined> {
  // The type knows no page without HTTPS.
  const { subtle } = crypto as { subtle?: SubtleCrypto }
  try {
    const pair = await subtle?.generateKey('Ed25519', true, ['sign', 'verify'])
    return pair && (await subtle?.exportKey('jwk', pair.privateKey))
  } catch {
    return undefined
  }
}

/** The bytes of base64url (RFC 4648 section 5) as hex. */
function hexOf(base64url: string): string {
  const bytes = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'))
  return Array.from(bytes, (byte) => byte.charCodeAt(0).toString(16).padStart(2, '0')).join('')
}
