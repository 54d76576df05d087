import { DEFAULT_KEY } from '../access/names.ts'
import type { Scope } from '../access/project-caller.ts'
import { apiError } from '../errors.ts'
import { type ExchangedKeyRow, fingerprintOf, type ProjectKey, type Sealed } from '../integrity/rows.ts'

/** How long a replaced key stays valid. */
export const OVERLAP_MS = 600_000

/** How many names of a project have valid keys at once. */
const MAX_NAMES = 50

/** How many keys of a name are valid at once, because of overlaps. */
export const MAX_VALID_KEYS = 5

/** How long expired and revoked keys are remembered, so that requests signed with them are recognised. */
const REMEMBERED_MS = 30 * 86_400_000

/** How many expired or revoked keys of a project are remembered. */
export const MAX_ENDED_KEYS = 100

/** The longest time until a key expires. */
const MAX_LIFETIME_MS = 10 * 366 * 86_400_000

/** `replaced` keys are valid until their overlap ends; those whose overlap has ended are `expired`. */
export const KEY_STATES = ['active', 'replaced', 'expired', 'revoked'] as const
export type KeyState = (typeof KEY_STATES)[number]

/** The end of a revoked key, past according to the clock of every replica. */
export const REVOKED = new Date(0)
/** The end of an expired key if the exact time does not matter. */
export const EXPIRED = new Date(1)

type End = Pick<ProjectKey, 'notAfter'>

/** Whether a key is invalid at a time, which it is from `notAfter` on. */
export function isExpired(key: End, now: Date): boolean {
  return key.notAfter !== null && key.notAfter <= now
}

/** A key as administrators see it; `until` is when it stops or stopped being valid, null if it lasts. */
export type ListedKey = Pick<ProjectKey, 'name' | 'publicKey' | 'createdAt' | 'scope' | 'lastUsedAt'> & {
  readonly state: KeyState
  readonly until: Date | null
  /** The subject of the ID token that the key was admitted for. Its name is that of the trust rule. */
  readonly subject?: string
}

/** A key that was exchanged for an ID token, with the name of its rule. */
export type ExchangedKey = Sealed<ExchangedKeyRow> & { readonly rule: string; readonly lastUsedAt: Date | null }

/** An exchanged key that has expired or was revoked. */
export type EndedExchangedKey = Pick<ListedKey, 'name' | 'publicKey' | 'createdAt' | 'scope' | 'lastUsedAt'> & {
  readonly subject: string
  readonly endedAt: Date
  readonly revoked: boolean
}

/** Returns the valid keys, newest first, and with `ended` those that expired or were revoked in the last 30 days. */
export function listKeys(
  keys: readonly ProjectKey[],
  now: Date,
  { ended }: { ended: boolean },
): readonly (ListedKey & ProjectKey)[] {
  return keys
    .filter((key) => (ended ? isRemembered(key, now) : !isExpired(key, now)))
    .toSorted(byAge)
    .map((key) => ({ ...key, state: stateOf(key, now), until: endOf(key) }))
}

/** Lists a valid key that was admitted for an ID token. */
export function listExchanged({ rule, expiresAt, ...key }: ExchangedKey): ListedKey {
  return { ...key, name: rule, state: 'active', until: expiresAt }
}

/** Lists one that has expired or was revoked. */
export function listEnded({ endedAt, revoked, ...key }: EndedExchangedKey): ListedKey {
  return { ...key, state: revoked ? 'revoked' : 'expired', until: endedAt }
}

/** Sorts listed keys. */
export function newestFirst(keys: readonly ListedKey[]): readonly ListedKey[] {
  return keys.toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime())
}

function stateOf(key: ProjectKey, now: Date): KeyState {
  if (isExpired(key, now)) return endedState(key)
  return isReplaced(key) ? 'replaced' : 'active'
}

/** Why a key is no longer valid. */
export function endedState(key: End): 'expired' | 'revoked' {
  return isRevoked(key) ? 'revoked' : 'expired'
}

/** A key that an earlier release revoked ended at an unknown time, long ago. */
function endOf(key: End & Pick<ProjectKey, 'revokedAt'>): Date | null {
  return isRevoked(key) ? (key.revokedAt ?? key.notAfter) : key.notAfter
}

/** Whether a key is valid, or expired or was revoked in the last 30 days. */
export function isRemembered(key: End & Pick<ProjectKey, 'revokedAt'>, now: Date): boolean {
  const end = endOf(key)
  return end === null || now.getTime() - end.getTime() < REMEMBERED_MS
}

function isRevoked({ notAfter }: End): boolean {
  return notAfter?.getTime() === REVOKED.getTime()
}

/** Whether a valid key stops being valid earlier than it was to expire. */
function isReplaced({ notAfter, expiresAt }: ProjectKey): boolean {
  return notAfter !== null && notAfter.getTime() !== expiresAt?.getTime()
}

/** A public key that becomes a key of a project. */
export type NewKey = Pick<ProjectKey, 'id' | 'publicKey' | 'name' | 'createdAt'>

/**
 * Returns the keys after one was added.
 *
 * @param keys all keys of the project, which is locked
 * @throws ApiError key_exists, too_many_keys, invalid_request if the expiry is not in the next ten years
 */
export function addKey(
  keys: readonly ProjectKey[],
  added: NewKey,
  { scope, expiresAt }: { scope: Scope; expiresAt: Date | null },
): readonly ProjectKey[] {
  const now = added.createdAt
  const valid = validAt(keys, now)
  if (valid.some(({ name }) => name === added.name))
    throw apiError(
      'key_exists',
      'name: the project already has a key with this name; rotate it, or choose another name',
    )
  if (valid.some((key) => isSamePublicKey(key, added)))
    throw apiError('key_exists', 'publicKey: the project already has this key')
  requireFewNames(valid)
  return remembered([...without(keys, added), keyOf(added, scope, expiresAt)], now)
}

/**
 * Returns the keys after a rotation of one name: its current key stays valid for the overlap, earlier keys keep their end,
 * and the oldest of more than five valid keys are revoked. Keys with other names do not change.
 *
 * @param keys all keys of the project, which is locked
 * @param change `overlapMs` 0 revokes all older keys of the name; without `scope` or `expiresAt`, the key has that of the
 *   replaced one
 * @throws ApiError not_found if no valid key has the name, unless it is `default`; too_many_keys; invalid_request if the
 *   project already has the key, its expiry is not in the next ten years, or no scope is known
 */
export function replaceKey(
  keys: readonly ProjectKey[],
  added: NewKey,
  change: { overlapMs: number; scope?: Scope | undefined; expiresAt?: Date | null | undefined },
): readonly ProjectKey[] {
  const { overlapMs, scope, expiresAt } = change
  const now = added.createdAt
  const valid = validAt(keys, now)
  if (valid.some((key) => isSamePublicKey(key, added)))
    throw apiError('invalid_request', 'publicKey: the project already has this key')
  const namesake = keys.filter(({ name }) => name === added.name).toSorted(byAge)
  const replaceable = validAt(namesake, now)
  // The first key can be replaced even if it has expired or was revoked, so that a project is never lost.
  if (replaceable.length === 0 && added.name !== DEFAULT_KEY)
    throw apiError('not_found', 'The project has no active key with this name. Add one instead.')
  if (replaceable.length === 0) requireFewNames(valid)
  const replaced = replaceable[0] ?? namesake[0]
  const end = new Date(now.getTime() + overlapMs)
  const kept = new Set(overlapMs === 0 ? [] : replaceable.slice(0, MAX_VALID_KEYS - 1))
  const ended = without(keys, added).map((key) => {
    if (!replaceable.includes(key)) return key
    if (!kept.has(key)) return revoked(key, now)
    return isReplaced(key) ? key : { ...key, notAfter: earlier(key.notAfter, end) }
  })
  // The last key of the name is remembered, so its row was removed or changed: a rotation must not widen its access.
  const access = scope ?? replaced?.scope
  if (access === undefined)
    throw apiError('invalid_request', 'scope: is required, because the replaced key is no longer stored')
  const inherited = expiresAt === undefined ? (replaced?.expiresAt ?? null) : expiresAt
  return remembered([...ended, keyOf(added, access, inherited)], now)
}

/** Returns the valid key with a fingerprint. */
export function validKey(keys: readonly ProjectKey[], fingerprint: string, now: Date): ProjectKey | undefined {
  return validAt(keys, now).find(({ publicKey }) => fingerprintOf(publicKey) === fingerprint)
}

/** Returns the keys after one of them was revoked. */
export function revokeKey(keys: readonly ProjectKey[], found: ProjectKey, now: Date): readonly ProjectKey[] {
  return remembered(
    keys.map((key) => (key === found ? revoked(key, now) : key)),
    now,
  )
}

/** The key that represents a project: the newest valid one named `default`, otherwise the newest valid one, or any. */
export function representativeKey<Key extends ProjectKey>(keys: readonly Key[], now: Date): Key | undefined {
  const sorted = keys.toSorted(byAge)
  const valid = validAt(sorted, now)
  return valid.find(isDefault) ?? valid[0] ?? sorted.find(isDefault) ?? sorted[0]
}

function validAt<Key extends End>(keys: readonly Key[], now: Date): readonly Key[] {
  return keys.filter((key) => !isExpired(key, now))
}

function keyOf(added: NewKey, scope: Scope, expiresAt: Date | null): ProjectKey {
  const lifetime = expiresAt === null ? 1 : expiresAt.getTime() - added.createdAt.getTime()
  if (!(lifetime > 0)) throw apiError('invalid_request', 'expiresAt: must be in the future')
  if (lifetime > MAX_LIFETIME_MS) throw apiError('invalid_request', 'expiresAt: must be in the next ten years')
  return { ...added, notAfter: expiresAt, expiresAt, revokedAt: null, scope, lastUsedAt: null }
}

const revoked = (key: ProjectKey, now: Date): ProjectKey => ({ ...key, notAfter: REVOKED, revokedAt: now })

const isDefault = ({ name }: ProjectKey): boolean => name === DEFAULT_KEY

const isSamePublicKey = (one: Pick<ProjectKey, 'publicKey'>, other: Pick<ProjectKey, 'publicKey'>): boolean =>
  Buffer.compare(one.publicKey, other.publicKey) === 0

/** A public key that has expired or was revoked may be added again. */
function without(keys: readonly ProjectKey[], added: NewKey): readonly ProjectKey[] {
  return keys.filter((key) => !isSamePublicKey(key, added))
}

/**
 * The valid keys and the last expired or revoked ones. The newest `default` key always stays: a rotation continues its
 * scope.
 */
function remembered(keys: readonly ProjectKey[], now: Date): readonly ProjectKey[] {
  const newestDefault = keys.filter(isDefault).toSorted(byAge)[0]
  const ended = keys
    .filter((key) => isExpired(key, now) && isRemembered(key, now))
    .toSorted((one, other) => Number(endOf(other)) - Number(endOf(one)))
  const lastEnded = new Set(ended.slice(0, MAX_ENDED_KEYS))
  return keys.filter((key) => !isExpired(key, now) || lastEnded.has(key) || key === newestDefault)
}

/** @throws ApiError too_many_keys if there is no room for another name */
function requireFewNames(valid: readonly ProjectKey[]): void {
  if (new Set(valid.map(({ name }) => name)).size >= MAX_NAMES)
    throw apiError('too_many_keys', `The project has ${String(MAX_NAMES)} keys, which is the limit. Revoke one first.`)
}

function earlier(one: Date | null, other: Date): Date {
  return one !== null && one < other ? one : other
}

function byAge(a: ProjectKey, b: ProjectKey): number {
  return b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1)
}
