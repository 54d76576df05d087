import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import {
  ACTIONS,
  type Action,
  type AuditFilters,
  type AuditStore,
  type By,
  LISTED_ACTIONS,
  type ListedEntry,
  newEntry,
} from './audit.ts'

/** What an administrator reads: the list, and the project that it is of; without one it is of several. */
export type Read = {
  readonly what:
    | 'projects'
    | 'keys'
    | 'secrets'
    | 'versions'
    | 'audit'
    | 'administrators'
    | 'overview'
    | 'activity'
    | 'verification'
  readonly projectId?: string
  readonly env?: string | undefined
}

/** The audit log of the vault. Entries are written by the transactions they record. */
export type AuditLog = ReturnType<typeof createAuditLog>

/** Creates what administrators do with the audit log. */
export function createAuditLog(deps: { store: Pick<AuditStore, 'list' | 'append'>; clock: Clock }) {
  const { store, clock } = deps
  return {
    /** Notes what an administrator reads; the answer waits for it. */
    noteRead: (by: By, { what, projectId = '', env }: Read): Promise<void> => {
      const entry = newEntry(clock, { action: 'read', by, env: env ?? null, detail: { what } })
      return store.append([{ entry, projectId }])
    },

    /**
     * Lists entries, newest first.
     *
     * @param query `action` undefined lists fetches and rotations, `all` every action; `before` is the id of an entry, which is not listed
     */
    list: async (query: {
      projectIds: readonly string[] | undefined
      projectUids?: readonly string[] | undefined
      action: Action | 'all' | undefined
      filters: AuditFilters
      before: string | undefined
      limit: number
    }): Promise<readonly ListedEntry[]> => {
      const { action, ...rest } = query
      if (action === 'all') return store.list({ ...rest, actions: ACTIONS })
      if (action !== undefined) return store.list({ ...rest, actions: [action] })
      return (await store.list({ ...rest, actions: LISTED_ACTIONS })).map(asSpecified)
    },
  }
}

/** The members that the specification lists, and no other. */
function asSpecified(entry: ListedEntry): ListedEntry {
  const { id, projectId, action, env, requestedAt, address } = entry
  return { id, projectId, action, env, requestedAt, address }
}
