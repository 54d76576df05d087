import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { newId } from '@vault-and-tracker/service-kit/core/ids'

/** The recorded actions. A listing without `action=` shows the first two. */
export const ACTIONS = [
  'fetch',
  'rotate',
  'put',
  'delete',
  'restore',
  'project.create',
  'project.update',
  'project.delete',
  'project.authenticate',
  'key.rewrap',
  'key.rotate',
  'key.revoke',
  'administrator.create',
  'administrator.delete',
  'read',
  'refused',
] as const

/** One of the recorded actions. */
export type Action = (typeof ACTIONS)[number]

/** The actions of a listing without `action=`. */
export const LISTED_ACTIONS: readonly Action[] = ['fetch', 'rotate']

/** Names and numbers that describe an action; never a value of a secret and never a private key. */
export type Detail = Readonly<Record<string, string | number | boolean | null>>

/**
 * Who acted, and from where: `key:` and the fingerprint of a project's key, `administrator` for the holder of ADMIN_TOKEN
 * and with `:` and an id for a named one, `command`, or `unknown` for whoever was refused.
 */
export type By = { readonly actor: string; readonly address: string }

/** An operator's command on the machine itself. Every entry has an address. */
export const BY_COMMAND: By = { actor: 'command', address: '127.0.0.1' }

/** An entry to insert in the same transaction as the change that it records. */
export type NewEntry = {
  readonly id: string
  readonly action: Action
  readonly env: string | null
  readonly requestedAt: Date
  readonly address: string
  readonly actor: string
  readonly detail: Detail | null
}

/** An entry in a listing. Entries of `fetch` and `rotate` have no `detail`. */
export type ListedEntry = {
  readonly id: string
  readonly projectId: string
  readonly action: Action
  readonly env: string | null
  readonly requestedAt: Date
  readonly address: string
  /** Not in the listing without `action=`. Null in entries of releases that did not record it. */
  readonly actor?: string | null
  readonly detail?: Detail | null
}

/** What narrows a listing, each where it is given. */
export type AuditFilters = {
  readonly actor?: string | undefined
  readonly env?: string | undefined
  /** The key of the secret that an entry is about. */
  readonly key?: string | undefined
  /** Only entries of this time and later. */
  readonly since?: Date | undefined
}

/** Which entries to list, newest first. */
export type AuditQuery = {
  /** Only entries of these projects. */
  readonly projectIds: readonly string[] | undefined
  /** Of several projects of a name only these, and what names no project by its uid. */
  readonly projectUids?: readonly string[] | undefined
  readonly actions: readonly Action[]
  readonly filters: AuditFilters
  /** Only entries older than the one with this id. */
  readonly before: string | undefined
  readonly limit: number
}

/** An entry with the project that it is about; the empty text where it is about none. */
export type AppendedEntry = { readonly entry: NewEntry; readonly projectId: string }

/** The log. Other stores write it too: each inserts an entry in the same transaction as the change it records. */
export type AuditStore = {
  list(query: AuditQuery): Promise<readonly ListedEntry[]>
  /** Inserts entries about requests that change nothing, all or none of them. */
  append(entries: readonly AppendedEntry[]): Promise<void>
  /** Creates the partitions of this month and the next three. */
  ensurePartitions(): Promise<void>
}

/** A new entry with the current time. */
export function newEntry(
  clock: Clock,
  entry: { action: Action; by: By; env?: string | null; detail?: Detail },
): NewEntry {
  return {
    id: newId(),
    action: entry.action,
    env: entry.env ?? null,
    requestedAt: new Date(clock.now()),
    address: entry.by.address,
    actor: entry.by.actor,
    detail: entry.detail ?? null,
  }
}
