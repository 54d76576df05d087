/** An Ed25519 PrivateKeyInfo up to the 32 bytes of the seed (RFC 8410 section 7), in hex. */
const PKCS8 = '302e020100300506032b657004220420'
/** The same with a public key after the seed (RFC 8410 section 10.3), and the bytes between the two. */
const PKCS8_WITH_PUBLIC_KEY = '3051020101300506032b657004220420'
const PUBLIC_KEY = '812100'

/**
 * Reads a private key: a JWK JSON string, the 64 hex digits of its seed, or a PKCS#8 PEM as written by
 * `openssl genpkey -algorithm ed25519`.
 *
 * @returns the JWK unchanged, or the 32 bytes of the seed; undefined for anything else, which may be secret
 */
export function readPrivateKey(text: unknown): string | Uint8Array | undefined {
  // Programs in JavaScript can pass undefined.
  if (typeof text !== 'string') return undefined
  const trimmed = text.trim()
  if (trimmed.startsWith('{')) return trimmed
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return fromHex(trimmed)
  const pem = /^-----BEGIN PRIVATE KEY-----\s+([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----$/.exec(trimmed)?.[1]
  return pem === undefined ? undefined : seedOf(hexOfBase64(pem.replace(/\s/g, '')))
}

function seedOf(der: string): Uint8Array | undefined {
  const seed = der.slice(PKCS8.length, PKCS8.length + 64)
  const rest = der.slice(PKCS8.length + 64)
  const isAlone = der.startsWith(PKCS8) && rest === ''
  const isPair = der.startsWith(PKCS8_WITH_PUBLIC_KEY) && rest.startsWith(PUBLIC_KEY) && rest.length === 6 + 64
  return seed.length === 64 && (isAlone || isPair) ? fromHex(seed) : undefined
}

function hexOfBase64(base64: string): string {
  try {
    return Array.from(atob(base64), (character) => character.charCodeAt(0).toString(16).padStart(2, '0')).join('')
  } catch {
    return ''
  }
}

function fromHex(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16))
}
