import { brandPasskey, type Passkey } from './brand.ts'
import { isHex40 } from './hex.ts'

export type { Passkey } from './brand.ts'

/** Reads a passkey: exactly 40 hex digits of either case, given back in lower case; `undefined` for anything else. */
export function parsePasskey(text: string): Passkey | undefined {
  return isHex40(text) ? brandPasskey(text.toLowerCase()) : undefined
}
