import { apiError } from '../errors.ts'

/** A public key of a project. `notAfter` is null for the newest one and the moment it ends for a replaced one. */
export type ProjectKey = Readonly<{ id: string; publicKey: Uint8Array; createdAt: Date; notAfter: Date | null }>

/** What a rotation does to a project's keys. */
export type KeyChange = Readonly<{
  add: ProjectKey
  /** Keys that end at a moment to come. */
  end: readonly { id: string; notAfter: Date }[]
  /** Keys whose time is over, or that end at once: a key that is not there is valid by no replica's clock. */
  forget: readonly string[]
}>

/** How long a replaced key stays valid. */
export const OVERLAP_MS = 600_000

/** How many keys of a project are valid at once. */
export const MAX_VALID_KEYS = 5

/** Whether a key's time is over. At the very moment it ends, it is. */
export function isExpired(key: Pick<ProjectKey, 'notAfter'>, now: Date): boolean {
  return key.notAfter !== null && key.notAfter <= now
}

/**
 * Decides a rotation: the current key gets its overlap, those replaced before keep the end they have, and beyond five
 * valid keys the oldest ends at once.
 *
 * @param keys all keys of the project, under the lock of the project
 * @param overlapMs 0 ends all older keys at once
 * @throws invalid_request when the project has the added key already
 */
export function replaceKey(keys: readonly ProjectKey[], add: ProjectKey, now: Date, overlapMs: number): KeyChange {
  const valid = keys.filter((key) => !isExpired(key, now))
  if (valid.some((key) => Buffer.compare(key.publicKey, add.publicKey) === 0))
    throw apiError('invalid_request', 'the project has this key already')
  const newestFirst = valid.toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1))
  const kept = overlapMs === 0 ? [] : newestFirst.slice(0, MAX_VALID_KEYS - 1)
  const notAfter = new Date(now.getTime() + overlapMs)
  return {
    add,
    end: kept.filter((key) => key.notAfter === null).map((key) => ({ id: key.id, notAfter })),
    forget: keys.filter((key) => !kept.includes(key)).map((key) => key.id),
  }
}
