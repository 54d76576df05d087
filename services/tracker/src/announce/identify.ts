import type { FailureName, Passkey } from '@vault-and-tracker/bencode-tracker'
import type { AnnounceUser, Directory } from './directory.ts'

/** `open` accepts everyone and every torrent, and accounts nothing. */
export type TrackerMode = 'private' | 'open'

/** The user, undefined in open mode; or why they may neither announce nor scrape. */
export type Identity = AnnounceUser | undefined | FailureName

/**
 * Finds the user who announces or scrapes; at once where they are cached.
 *
 * @throws what `isUnavailable` recognises when Postgres is unavailable and the passkey is not cached
 */
export type Identify = (passkey: Passkey | undefined) => Identity | Promise<Identity>

/** Creates the function for a mode. */
export function createIdentify(mode: TrackerMode, directory: Directory): Identify {
  if (mode === 'open') return () => undefined
  return (passkey) => {
    if (passkey === undefined) return 'missing_passkey'
    const user = directory.user(passkey)
    return user instanceof Promise ? user.then(checkUser) : checkUser(user)
  }
}

function checkUser(user: AnnounceUser | undefined): Identity {
  if (user === undefined) return 'unknown_passkey'
  if (user.state === 'banned') return 'account_banned'
  if (user.state === 'suspended') return 'account_suspended'
  return user
}
