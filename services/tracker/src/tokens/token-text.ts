import { createHash, createHmac, randomInt, timingSafeEqual } from 'node:crypto'

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

/** A token as links name it: by its id and the SHA-256 of its text, in hex. */
export type LinkingToken = { readonly id: string; readonly tokenHash: string }

/** 128 bits of the code. */
const LINK_KEY = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})[0-9a-f]{32}$/

/**
 * The key of a link, which works as long as the token and opens nothing but its subject. The token cannot be derived from
 * it.
 */
export function linkKeyOf({ id, tokenHash }: LinkingToken, subject: string): string {
  const code = createHmac('sha256', Buffer.from(tokenHash, 'hex')).update(subject).digest('hex')
  return `${id.replaceAll('-', '')}${code.slice(0, 32)}`
}

/** The id of the token in the key of a link; undefined if the key is malformed. */
export function tokenIdIn(key: string): string | undefined {
  const [, ...groups] = LINK_KEY.exec(key) ?? []
  return groups.length === 0 ? undefined : groups.join('-')
}

/** Whether the key of a link is that of a token for a subject. */
export function isLinkKey(key: string, token: LinkingToken, subject: string): boolean {
  const expected = Buffer.from(linkKeyOf(token, subject))
  return key.length === expected.length && timingSafeEqual(Buffer.from(key), expected)
}
