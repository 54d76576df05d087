import { createHash, timingSafeEqual } from 'node:crypto'
import type { TokenOfAdministrator } from '../access/administrator.ts'
import type { Administrators, SignedInAdministrator } from './administrators.ts'

/** The tokens that are valid now. */
export type Tokens = ReturnType<typeof createTokens>

const HOLDER = 'administrator'
const HOLDER_GRANTS = [{ role: 'holder', projects: null, unbound: [] }] as const

/**
 * Finds administrators by their tokens, and again by what identifies a token.
 *
 * @param deps `configured` are those of the settings; `digest` hides one, with a key that all replicas have
 */
export function createTokens(deps: {
  configured: readonly string[]
  administrators: Pick<Administrators, 'findByToken' | 'findById'>
  digest: (token: string) => string
}) {
  const { configured, administrators, digest } = deps
  const isConfigured = createTokenCheck(configured)
  const digests = configured.map(digest)

  const holder = (credential: string): TokenOfAdministrator => ({
    ...{ actor: HOLDER, name: 'Admin token', grants: HOLDER_GRANTS, credential },
  })

  return {
    /** Returns the administrator with a token, undefined if it is unknown or expired. */
    findByToken: async (token: string): Promise<TokenOfAdministrator | undefined> => {
      if (isConfigured(token)) return holder(digest(token))
      const named = await administrators.findByToken(token)
      return named && toToken(named)
    },

    /** Returns the administrator whose token had a credential, undefined if it is no longer valid. */
    findByCredential: async (credential: string): Promise<TokenOfAdministrator | undefined> => {
      if (digests.includes(credential)) return holder(credential)
      const named = await administrators.findById(credential)
      return named && toToken(named)
    },
  }
}

/** A token of a named administrator never changes, so their id identifies it. */
function toToken({ id, name, role, bound, unbound }: SignedInAdministrator): TokenOfAdministrator {
  return { actor: `administrator:${id}`, name, grants: [{ role, projects: bound, unbound }], credential: id }
}

/**
 * Compares a token with all accepted ones by their hashes, in constant time, so that the time reveals neither its length
 * nor how many characters are equal.
 */
export function createTokenCheck(accepted: readonly string[]): (presented: string) => boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  const hashes = accepted.map(hash)
  return (presented) => {
    const presentedHash = hash(presented)
    let matches = 0
    for (const known of hashes) matches += Number(timingSafeEqual(known, presentedHash))
    return matches > 0
  }
}
