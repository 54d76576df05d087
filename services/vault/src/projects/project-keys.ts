import { createHash } from 'node:crypto'
import { apiError } from '../errors.ts'

/** A public key of a project. `notAfter` is the time from which a replaced key is invalid; null for the newest key. */
export type ProjectKey = {
  readonly id: string
  readonly publicKey: Uint8Array
  readonly createdAt: Date
  readonly notAfter: Date | null
  readonly scope: Scope
  /** When a signature of the key was accepted, to the minute; null for a key without any. */
  readonly lastUsedAt: Date | null
}

/** What a key may do: read or write values, in some environments or, where `envs` is null, in all. */
export type Scope = { readonly access: Access; readonly envs: readonly string[] | null }

/** The values of `access`. */
export const ACCESS = ['read-write', 'read', 'write'] as const

/** Whether a key may read values, write them, or both. */
export type Access = (typeof ACCESS)[number]

/** The scope of a key that was given none. */
export const FULL_SCOPE: Scope = { access: 'read-write', envs: null }

/** Whether a scope allows reading or writing, in an environment where one is given. */
export function allows({ access, envs }: Scope, asked: 'read' | 'write', env?: string): boolean {
  return (access === 'read-write' || access === asked) && (env === undefined || envs === null || envs.includes(env))
}

/** What a rotation does to a project's keys. */
export type KeyChange = {
  readonly add: ProjectKey
  /** Keys that stay valid until a time in the future. */
  readonly end: readonly { id: string; notAfter: Date }[]
  /** Ids of keys to delete: expired ones, and those that end now. A deleted key is valid by no replica's clock. */
  readonly forget: readonly string[]
}

/** How long a replaced key stays valid. */
export const OVERLAP_MS = 600_000

/** How many keys of a project are valid at once. */
export const MAX_VALID_KEYS = 5

/** Whether a key is invalid at a time. At `notAfter` itself it is. */
export function isExpired(key: Pick<ProjectKey, 'notAfter'>, now: Date): boolean {
  return key.notAfter !== null && key.notAfter <= now
}

/**
 * Decides a rotation: the current key stays valid for the overlap, keys that were replaced before keep their end, and
 * of more than five valid keys the oldest are deleted.
 *
 * @param keys all keys of the project, which is locked
 * @param overlapMs 0 ends all older keys at once
 * @throws ApiError invalid_request when the project has the added key already
 */
export function replaceKey(keys: readonly ProjectKey[], add: ProjectKey, now: Date, overlapMs: number): KeyChange {
  const valid = keys.filter((key) => !isExpired(key, now))
  if (valid.some((key) => Buffer.compare(key.publicKey, add.publicKey) === 0))
    throw apiError('invalid_request', 'The project has this key already.')
  const kept = overlapMs === 0 ? [] : valid.toSorted(newestFirst).slice(0, MAX_VALID_KEYS - 1)
  const notAfter = new Date(now.getTime() + overlapMs)
  return {
    add,
    end: kept.filter((key) => key.notAfter === null).map((key) => ({ id: key.id, notAfter })),
    forget: keys.filter((key) => !kept.includes(key)).map((key) => key.id),
  }
}

/** The scope of the key that a rotation replaces: the newest valid one or, when none is valid, the one that was so last. */
export function replacedScope(keys: readonly ProjectKey[], now: Date): Scope {
  const valid = keys.filter((key) => !isExpired(key, now))
  const [newest] = (valid.length > 0 ? valid : keys).toSorted(newestFirst)
  return newest?.scope ?? FULL_SCOPE
}

function newestFirst(a: ProjectKey, b: ProjectKey): number {
  return b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1)
}

/** The keys after a change. */
export function applyChange(keys: readonly ProjectKey[], { add, end, forget }: KeyChange): readonly ProjectKey[] {
  const endOf = new Map(end.map(({ id, notAfter }) => [id, notAfter]))
  const kept = keys.filter(({ id }) => !forget.includes(id))
  return [...kept.map((key) => ({ ...key, notAfter: endOf.get(key.id) ?? key.notAfter })), add]
}

/** Names a public key: the first 32 hex digits of its SHA-256. */
export function fingerprintOf(publicKey: Uint8Array): string {
  return createHash('sha256').update(publicKey).digest('hex').slice(0, 32)
}

/**
 * The keys after one was revoked. Its row stays as one that ended long ago, which is valid by no replica's clock, until
 * the next rotation removes it.
 *
 * @throws ApiError not_found when no valid key has the fingerprint
 */
export function revokeKey(keys: readonly ProjectKey[], fingerprint: string, now: Date): readonly ProjectKey[] {
  const revoked = keys.find((key) => !isExpired(key, now) && fingerprintOf(key.publicKey) === fingerprint)
  if (revoked === undefined) throw apiError('not_found')
  return keys.map((key) => (key === revoked ? { ...key, notAfter: LONG_AGO } : key))
}

const LONG_AGO = new Date(0)
