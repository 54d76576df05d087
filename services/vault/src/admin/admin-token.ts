import { createHash, timingSafeEqual } from 'node:crypto'

/** Whether a presented token is one of the accepted ones. */
export type TokenCheck = (presented: string) => boolean

/**
 * Compares tokens by their hashes in constant time, always with all of them, so that neither length nor position nor
 * the number of equal characters shows in the time it takes.
 *
 * @param accepted the token and, while it is being replaced, the previous one
 */
export function createTokenCheck(accepted: readonly string[]): TokenCheck {
  const hashes = accepted.map(hash)
  return (presented) => {
    const presentedHash = hash(presented)
    let matches = 0
    for (const known of hashes) matches += Number(timingSafeEqual(known, presentedHash))
    return matches > 0
  }
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/**
 * The token of an `Authorization` header (RFC 6750 section 2.1).
 *
 * @param header undefined when absent
 */
export function bearerToken(header: string | undefined): string | undefined {
  return /^Bearer +([!-~]+)$/i.exec(header ?? '')?.[1]
}
