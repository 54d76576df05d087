import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { Listed, Page } from '../pagination.ts'

/** Actions of administrators and moderators that the admin log records. */
export const ADMIN_ACTIONS = [
  'category.arrange',
  'category.create',
  'category.delete',
  'category.delete-all',
  'category.seed',
  'category.update',
  'clients.update',
  'report.resolve',
  'rules.publish',
  'site.set-up',
  'site.update',
  'torrent.approve',
  'torrent.delete',
  'torrent.reject',
  'torrent.update',
  'torznab.settings.update',
  'torznab.unblock',
  'user.factors.remove',
  'user.invite.take-back',
  'user.passkey.reset',
  'user.password.reset',
  'user.sessions.end',
  'user.token.revoke',
  'user.update',
  'user.warn',
  'webhook.add',
  'webhook.change',
  'webhook.remove',
] as const
export type AdminAction = (typeof ADMIN_ACTIONS)[number]

export const TARGET_TYPES = ['address', 'category', 'site', 'torrent', 'torznab', 'user', 'webhook'] as const
export type TargetType = (typeof TARGET_TYPES)[number]

/** The target of an action. `name` is its name at that time. The site and the Torznab API have neither id nor name. */
export type Target = { readonly type: TargetType; readonly id: string | null; readonly name: string | null }

/** The actor of an action, and its time. */
export type ActedBy = { readonly actorId: string; readonly at: Date }

/** An actor at the current time; undefined if no staff member acts. */
export function actedBy(clock: Clock, actorId: string): ActedBy
export function actedBy(clock: Clock, actorId: string | undefined): ActedBy | undefined
export function actedBy(clock: Clock, actorId: string | undefined): ActedBy | undefined {
  return actorId === undefined ? undefined : { actorId, at: new Date(clock.now()) }
}

/** JSON fields by name. */
export type Fields = Readonly<Record<string, string | number | boolean | null>>

/** An action to record. `before` and `after` contain the changed fields; null if the target did not or does not exist. */
export type AdminActionEntry = {
  readonly action: AdminAction
  readonly target: Target
  readonly before?: Fields | null
  readonly after?: Fields | null
}

/** An action to record, with its actor. */
export type NewAdminLogEntry = ActedBy & Required<AdminActionEntry>

/** A recorded action. */
export type AdminLogEntry = Omit<NewAdminLogEntry, 'actorId'> & {
  readonly id: string
  readonly actor: { readonly id: string; readonly username: string }
}

/**
 * The fields whose values differ.
 *
 * @returns undefined if nothing changed, so there is nothing to record
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

/** Filters of entries, which are listed newest first. Undefined filters match every entry. */
export type AdminLogFilters = {
  /** The id or name of a user; an unknown user matches nothing. */
  readonly actor?: string | undefined
  readonly action?: AdminAction | undefined
  /** Id of the target. */
  readonly target?: string | undefined
  readonly from?: Date | undefined
  /** Exclusive. */
  readonly to?: Date | undefined
}

/**
 * The admin log. Entries are never changed or deleted, which the run-time role could not do either. All methods throw an
 * error that `isUnavailable` recognises if Postgres is unavailable.
 */
export type AdminLog = {
  /** Records an action outside Postgres. Actions in Postgres are recorded by their stores, in the same transaction. */
  record(entry: NewAdminLogEntry): Promise<void>
  list(query: AdminLogFilters & Page): Promise<Listed<AdminLogEntry>>
  /** The newest entries, or those before the one with an id. */
  newest(filters: AdminLogFilters, limit: number, before: string | undefined): Promise<readonly AdminLogEntry[]>
}
