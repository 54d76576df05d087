import { refusal } from '../errors.ts'

/** A public key of a project. `notAfter` is null for the newest one and the moment it ends for a replaced one. */
export type ProjectKey = Readonly<{ id: string; publicKey: Uint8Array; createdAt: Date; notAfter: Date | null }>

/** What a rotation does to a project's keys. */
export type KeyChange = Readonly<{
  add: ProjectKey
  /** Keys that end, sooner than they would have. */
  end: readonly { id: string; notAfter: Date }[]
  /** Keys whose time is over. */
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
 * Decides a rotation: the current key gets its overlap, older ones keep the end they have (never a later one), and
 * beyond five valid keys the oldest ends at once.
 *
 * @param keys all keys of the project, under the lock of the project
 * @param overlapMs 0 ends all older keys at once
 * @throws invalid_request when the project has the added key already
 */
export function replaceKey(keys: readonly ProjectKey[], add: ProjectKey, now: Date, overlapMs: number): KeyChange {
  const valid = keys.filter((key) => !isExpired(key, now))
  if (valid.some((key) => Buffer.compare(key.publicKey, add.publicKey) === 0))
    throw refusal('invalid_request', { message: 'the project has this key already' })
  const latestEnd = new Date(now.getTime() + overlapMs)
  const newestFirst = valid.toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1))
  const end = newestFirst.flatMap((key, position) => {
    const notAfter = position < MAX_VALID_KEYS - 1 ? latestEnd : now
    return key.notAfter === null || key.notAfter > notAfter ? [{ id: key.id, notAfter }] : []
  })
  return { add, end, forget: keys.filter((key) => isExpired(key, now)).map((key) => key.id) }
}
