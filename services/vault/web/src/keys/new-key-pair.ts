export type NewKeyPair = {
  /** 64 hex digits. */
  readonly publicKeyHex: string
  /** A JWK as a JSON string (RFC 8037 section 2). It leaves the page only as the saved file. */
  readonly privateJwk: string
}

/** Generates an Ed25519 key pair with Web Crypto, or with tweetnacl if the browser lacks it (as without HTTPS) or Ed25519. */
export async function newKeyPair(): Promise<NewKeyPair> {
  const { d, x } = (await byWebCrypto()) ?? {}
  if (d !== undefined && x !== undefined)
    return { publicKeyHex: hexOf(x), privateJwk: JSON.stringify({ kty: 'OKP', crv: 'Ed25519', d, x }) }
  const { generateKeyPair } = await import('@vault-and-tracker/http-signatures/portable')
  const { publicKeyHex, privateJwk } = generateKeyPair()
  return { publicKeyHex, privateJwk }
}

async function byWebCrypto(): Promise<JsonWebKey | undefined> {
  // Missing without HTTPS, which the type does not know.
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
