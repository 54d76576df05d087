import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { newId } from '@vault-and-tracker/service-kit/ids'

/** What the log records. The first two are what a listing shows unless it is asked for others. */
export const ACTIONS = [
  'fetch',
  'rotate',
  'put',
  'delete',
  'restore',
  'project.create',
  'project.update',
  'project.delete',
  'key.rewrap',
  'key.rotate',
] as const

/** One of the recorded actions. */
export type Action = (typeof ACTIONS)[number]

/** The actions of a listing without `action=`. */
export const LISTED_ACTIONS: readonly Action[] = ['fetch', 'rotate']

/** Names and numbers that tell what an action was about; never a value, never a private key. */
export type Detail = Readonly<Record<string, string | number | boolean | null>>

/** An entry to be written by the very transaction that does what it tells of. */
export type NewEntry = Readonly<{
  id: string
  action: Action
  env: string | null
  requestedAt: Date
  ip: string
  detail: Detail | null
}>

/** An entry as it is listed. `detail` is there for the further actions only. */
export type ListedEntry = Readonly<{
  id: string
  projectId: string
  action: Action
  env: string | null
  requestedAt: Date
  ip: string
  detail?: Detail | null
}>

/** Which entries to list, newest first. */
export type AuditQuery = Readonly<{
  projectId: string | undefined
  actions: readonly Action[]
  /** Only entries older than the one with this id. */
  before: string | undefined
  limit: number
}>

/** Reads the log. Nothing writes to it alone: each store inserts an entry together with what the entry tells of. */
export type AuditStore = {
  list(query: AuditQuery): Promise<readonly ListedEntry[]>
  /** Makes partitions for this month and the next ones. */
  ensurePartitions(): Promise<void>
}

/** An entry dated now. */
export function newEntry(
  clock: Clock,
  entry: { action: Action; ip: string; env?: string | null; detail?: Detail },
): NewEntry {
  return {
    id: newId(),
    action: entry.action,
    env: entry.env ?? null,
    requestedAt: new Date(clock.now()),
    ip: entry.ip,
    detail: entry.detail ?? null,
  }
}
