import { createHash } from 'node:crypto'

/** The SHA-256 of an invite code. The code is a credential, so only its hash is stored. */
export function hashInviteCode(code: string): Buffer {
  return createHash('sha256').update(code).digest()
}
