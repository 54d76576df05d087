import { randomBytes } from 'node:crypto'

/** 160 random bits as 40 lower-case hex digits. */
export function newPasskey(): string {
  return randomBytes(20).toString('hex')
}
