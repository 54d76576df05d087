// Text encodings of bytes without node:buffer, for code that both entry points share. None of it is on the hot path.

const CANONICAL_32_BYTES = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The caller must have validated `hex`. */
export function fromHex(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16))
}

export function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}

export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Decodes 32 bytes of unpadded base64url; undefined unless it is their one canonical spelling of 43 characters. */
export function from32BytesBase64Url(text: string): Uint8Array | undefined {
  if (!CANONICAL_32_BYTES.test(text)) return undefined
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}
