import { type Action, type AuditStore, LISTED_ACTIONS, type ListedEntry } from './audit.ts'

/** The audit log of the vault. Entries are written by the transactions they record. */
export type AuditLog = ReturnType<typeof createAuditLog>

/** Creates what administrators do with the audit log. */
export function createAuditLog(deps: { store: Pick<AuditStore, 'list'> }) {
  const { store } = deps
  return {
    /**
     * Lists entries, newest first.
     *
     * @param query `action` undefined lists fetches and rotations; `before` is the id of an entry, which is not listed
     */
    list: async (query: {
      projectId: string | undefined
      action: Action | undefined
      before: string | undefined
      limit: number
    }): Promise<readonly ListedEntry[]> => {
      const { action, ...rest } = query
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
