import { createHash } from 'node:crypto'

/** What is stored of an invite code, which opens an account and so is kept nowhere itself. */
export function hashInviteCode(code: string): Buffer {
  return createHash('sha256').update(code).digest()
}
