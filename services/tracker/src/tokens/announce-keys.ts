import { newPasskey } from '../accounts/passkeys.ts'
import { apiError } from '../errors.ts'

export type AnnounceKeyStore = {
  /** The announce key of a token, which is the given one if it had none; undefined if the token was revoked. */
  keyOf(tokenId: string, initial: string): Promise<string | undefined>
}

export type AnnounceKeys = ReturnType<typeof createAnnounceKeys>

/**
 * The keys in the announce URLs of the .torrent files that are downloaded with tokens. They look like passkeys and announce
 * as the member, but open nothing else, and end with the token.
 */
export function createAnnounceKeys(store: AnnounceKeyStore) {
  return {
    /** The key of a token, which is created for its first download. @throws ApiError UNAUTHORIZED if it was revoked */
    async of(tokenId: string): Promise<string> {
      const key = await store.keyOf(tokenId, newPasskey())
      if (key === undefined) throw apiError('UNAUTHORIZED', 'This token was revoked.')
      return key
    },
  }
}
