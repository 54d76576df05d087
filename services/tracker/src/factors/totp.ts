import { createHmac, timingSafeEqual } from 'node:crypto'

const STEP_MS = 30_000
const DIGITS = 6
/** Codes of the step before and after are accepted, for clocks that differ by up to half a minute. */
const DRIFT_STEPS = [0, -1, 1]

/** The length of a secret: that of the hash (RFC 4226 section 4). */
export const SECRET_BYTES = 20

/** The code of a step of 30 s since the Unix epoch (RFC 6238 with SHA-1 and six digits, which all apps support). */
export function totpOf(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const hash = createHmac('sha1', secret).update(counter).digest()
  const truncated = hash.readUInt32BE((hash[hash.length - 1] ?? 0) & 0xf) & 0x7fff_ffff
  return String(truncated % 10 ** DIGITS).padStart(DIGITS, '0')
}

/** The step that a code belongs to; undefined if it is none of those accepted now. */
export function stepOf(secret: Uint8Array, code: string, nowMs: number): number | undefined {
  const given = Buffer.from(code)
  return DRIFT_STEPS.map((drift) => Math.floor(nowMs / STEP_MS) + drift).find((step) => {
    const expected = Buffer.from(totpOf(secret, step))
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Base32 without padding (RFC 4648 section 6), in which people type secrets into apps. */
export function base32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? []).map((five) => BASE32.charAt(Number.parseInt(five.padEnd(5, '0'), 2))).join('')
}

/** The URI that apps read from a QR code. */
export function totpUri(secret: Uint8Array, issuer: string, username: string): string {
  const [site, name] = [encodeURIComponent(issuer), encodeURIComponent(username)]
  return `otpauth://totp/${site}:${name}?secret=${base32(secret)}&issuer=${site}`
}
