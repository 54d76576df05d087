import { createHash, randomInt } from 'node:crypto'

/** Lets scanners for secrets find tokens in repositories and logs. */
const PREFIX = 'vtt_'
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 43 digits of base 62 have 256 bits. */
const RANDOM_DIGITS = 43
const CHECK_DIGITS = 6
const TOKEN = new RegExp(`^${PREFIX}([0-9A-Za-z]{${RANDOM_DIGITS}})([0-9A-Za-z]{${CHECK_DIGITS}})$`)

/** A new API token: the prefix, 256 random bits and a check of them, in base 62. */
export function newTokenText(): string {
  const random = Array.from({ length: RANDOM_DIGITS }, () => DIGITS.charAt(randomInt(DIGITS.length))).join('')
  return `${PREFIX}${random}${checkOf(random)}`
}

/** Whether a text claims to be an API token. */
export function isTokenText(text: string): boolean {
  return text.startsWith(PREFIX)
}

/** Whether a text has the form of an API token and its check is right, so that it may be worth looking up. */
export function isWellFormedToken(text: string): boolean {
  const [, random, check] = TOKEN.exec(text) ?? []
  return random !== undefined && checkOf(random) === check
}

/** The SHA-256 that is stored of a token. */
export function hashOfToken(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** The first 32 bits of the SHA-256. */
function checkOf(random: string): string {
  let rest = createHash('sha256').update(random).digest().readUInt32BE()
  let check = ''
  while (check.length < CHECK_DIGITS) {
    check = DIGITS.charAt(rest % DIGITS.length) + check
    rest = Math.floor(rest / DIGITS.length)
  }
  return check
}
