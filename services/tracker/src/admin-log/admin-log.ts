import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { type Total, totalOf } from '../lists/total.ts'

/** What administrators and moderators do that is kept in the admin log. */
export const ADMIN_ACTIONS = [
  'category.arrange',
  'category.create',
  'category.delete',
  'category.delete-all',
  'category.seed',
  'category.update',
  'site.update',
  'torrent.approve',
  'torrent.delete',
  'torrent.reject',
  'torrent.update',
  'torznab.settings.update',
  'torznab.unblock',
  'user.invite.take-back',
  'user.passkey.reset',
  'user.password.reset',
  'user.sessions.end',
  'user.update',
] as const
export type AdminAction = (typeof ADMIN_ACTIONS)[number]

export const TARGET_TYPES = ['address', 'category', 'site', 'torrent', 'torznab', 'user'] as const
export type TargetType = (typeof TARGET_TYPES)[number]

/** What an action was done to. `name` is its name at that time; there is one site, and one Torznab API. */
export type Target = { readonly type: TargetType; readonly id: string | null; readonly name: string | null }

/** Who does something, and when. */
export type ActedBy = { readonly actorId: string; readonly at: Date }

/** The same for an action of this moment; undefined where it was not a member of the staff. */
export function actedBy(clock: Clock, actorId: string): ActedBy
export function actedBy(clock: Clock, actorId: string | undefined): ActedBy | undefined
export function actedBy(clock: Clock, actorId: string | undefined): ActedBy | undefined {
  return actorId === undefined ? undefined : { actorId, at: new Date(clock.now()) }
}

/** Fields by name, as JSON can hold them. */
export type Fields = Readonly<Record<string, string | number | boolean | null>>

/** An action to record. `before` and `after` hold the fields that changed; null where there was or is nothing. */
export type NewAdminLogEntry = ActedBy & {
  readonly action: AdminAction
  readonly target: Target
  readonly before: Fields | null
  readonly after: Fields | null
}

/** An action that was recorded. */
export type AdminLogEntry = Omit<NewAdminLogEntry, 'actorId'> & {
  readonly id: string
  readonly actor: { readonly id: string; readonly username: string }
}

/**
 * The fields whose values differ, before and after.
 *
 * @returns undefined when none does: then there is nothing to record
 */
export function changedFields<Known extends Fields>(
  before: Known,
  after: Known,
): { readonly before: Fields; readonly after: Fields } | undefined {
  const names = Object.keys(after).filter((name) => before[name] !== after[name])
  if (names.length === 0) return undefined
  const pick = (fields: Fields): Fields => Object.fromEntries(names.map((name) => [name, fields[name] ?? null]))
  return { before: pick(before), after: pick(after) }
}

/** Which entries, the newest first. What is undefined does not matter. */
type EntryFilter = {
  readonly page: number
  readonly limit: number
  readonly action: AdminAction | undefined
  /** Id of what it was done to. */
  readonly target: string | undefined
  readonly from: Date | undefined
  /** Not included. */
  readonly to: Date | undefined
}

/** The same by who did it: the id or name of a user; an unknown user did nothing. */
export type AdminLogQuery = EntryFilter & { readonly actor: string | undefined }

/** The same by the id of the user. */
export type StoredAdminLogQuery = EntryFilter & { readonly actorId: string | undefined }

type Listed = { readonly items: readonly AdminLogEntry[] } & Total

/**
 * The store of the admin log. Entries are never changed or deleted: the run-time role has no right to. All methods
 * throw what `isUnavailable` recognises when Postgres is unavailable.
 */
export type AdminLogStore = {
  record(entry: NewAdminLogEntry): Promise<void>
  list(query: StoredAdminLogQuery): Promise<Listed>
}

/** The use cases of the admin log. */
export type AdminLog = ReturnType<typeof createAdminLog>

/** @param deps `findUserId` finds a user by id or name */
export function createAdminLog(deps: {
  store: AdminLogStore
  findUserId: (idOrName: string) => Promise<string | undefined>
}) {
  const { store, findUserId } = deps
  return {
    /** Records what was done outside of Postgres, right after it. What is done in Postgres is recorded by its store. */
    record: (entry: NewAdminLogEntry): Promise<void> => store.record(entry),

    list: async ({ actor, ...filter }: AdminLogQuery): Promise<Listed> => {
      const actorId = actor === undefined ? undefined : await findUserId(actor)
      if (actor !== undefined && actorId === undefined) return { items: [], ...totalOf(0) }
      return store.list({ ...filter, actorId })
    },
  }
}
