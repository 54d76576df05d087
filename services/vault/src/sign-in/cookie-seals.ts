import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'

/** Authenticates what the vault stores in cookies, so that forged ones are refused without a query. */
export type CookieSeals = ReturnType<typeof createCookieSeals>

/** @param chainKey the key of the audit chain, from which the key of the cookies is derived. All replicas have it */
export function createCookieSeals(chainKey: KeyObject) {
  const key = createHmac('sha256', chainKey).update('vault/cookies/1').digest()
  const codeOf = (kind: string, text: string): Buffer => createHmac('sha256', key).update(`${kind}/1;${text}`).digest()

  return {
    /** Returns the value of a cookie of a kind, which contains the text. */
    seal: (kind: 'session' | 'sign-in', text: string): string =>
      `${Buffer.from(text).toString('base64url')}.${codeOf(kind, text).toString('base64url')}`,

    /** Returns the text of a cookie; undefined if the vault did not create it for this kind. */
    open: (kind: 'session' | 'sign-in', value: string): string | undefined => {
      const [encoded = '', code = ''] = value.split('.')
      const text = Buffer.from(encoded, 'base64url').toString()
      const given = Buffer.from(code, 'base64url')
      const expected = codeOf(kind, text)
      return given.length === expected.length && timingSafeEqual(given, expected) ? text : undefined
    },

    /** Returns a secret that belongs to a sign-in or a token, in 43 characters that need no encoding. */
    derive: (label: 'state' | 'nonce' | 'verifier' | 'token', seed: string): string =>
      codeOf(label, seed).toString('base64url'),
  }
}
