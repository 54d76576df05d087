import { FULL_SCOPE, type Scope } from '../access/project-caller.ts'
import { apiError } from '../errors.ts'
import { fingerprintOf, type ProjectKey } from '../integrity/rows.ts'

/** How long a replaced key stays valid. */
export const OVERLAP_MS = 600_000

/** How many keys of a project are valid at once. */
export const MAX_VALID_KEYS = 5

/** Whether a key is invalid at a time, which it is from `notAfter` on. */
export function isExpired(key: Pick<ProjectKey, 'notAfter'>, now: Date): boolean {
  return key.notAfter !== null && key.notAfter <= now
}

/**
 * Returns the keys after a rotation: the current key stays valid for the overlap, earlier keys keep their end, and the
 * oldest of more than five valid keys are deleted, as are expired ones.
 *
 * @param keys all keys of the project, which is locked
 * @param overlapMs 0 ends all older keys at once
 * @throws ApiError invalid_request if the project already has the added key
 */
export function replaceKey(
  keys: readonly ProjectKey[],
  added: ProjectKey,
  now: Date,
  overlapMs: number,
): readonly ProjectKey[] {
  const valid = keys.filter((key) => !isExpired(key, now))
  if (valid.some((key) => Buffer.compare(key.publicKey, added.publicKey) === 0))
    throw apiError('invalid_request', 'The project already has this key.')
  const kept = overlapMs === 0 ? [] : valid.toSorted(newestFirst).slice(0, MAX_VALID_KEYS - 1)
  const end = new Date(now.getTime() + overlapMs)
  return [...keys.filter((key) => kept.includes(key)).map((key) => ({ ...key, notAfter: key.notAfter ?? end })), added]
}

/** Returns the scope of the key that a rotation replaces: the newest valid key, or the newest of all if none is valid. */
export function replacedScope(keys: readonly ProjectKey[], now: Date): Scope {
  const valid = keys.filter((key) => !isExpired(key, now))
  const [newest] = (valid.length > 0 ? valid : keys).toSorted(newestFirst)
  return newest?.scope ?? FULL_SCOPE
}

function newestFirst(a: ProjectKey, b: ProjectKey): number {
  return b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1)
}

/**
 * Returns the keys after one was revoked. Its row gets an end that is past by the clock of every replica; the next rotation
 * deletes it.
 *
 * @throws ApiError not_found if no valid key has the fingerprint
 */
export function revokeKey(keys: readonly ProjectKey[], fingerprint: string, now: Date): readonly ProjectKey[] {
  const revoked = keys.find((key) => !isExpired(key, now) && fingerprintOf(key.publicKey) === fingerprint)
  if (revoked === undefined) throw apiError('not_found')
  return keys.map((key) => (key === revoked ? { ...key, notAfter: LONG_AGO } : key))
}

const LONG_AGO = new Date(0)
