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
    list: (query: {
      projectId: string | undefined
      action: Action | undefined
      before: string | undefined
      limit: number
    }): Promise<readonly ListedEntry[]> => {
      const { action, ...rest } = query
      return store.list({ ...rest, actions: action === undefined ? LISTED_ACTIONS : [action] })
    },
  }
}
