import { brandPasskey, type Passkey } from './brand.ts'
import { lowerHex40 } from './hex.ts'

export type { Passkey } from './brand.ts'

/** Reads a passkey: exactly 40 hex digits of either case, given back in lower case; `undefined` for anything else. */
export function parsePasskey(text: string): Passkey | undefined {
  const hex = lowerHex40(text)
  return hex === '' ? undefined : brandPasskey(hex)
}
