import { type Action, type AuditStore, LISTED_ACTIONS, type ListedEntry } from './audit.ts'
import type { Sealer } from './sealer.ts'

/** The audit log of the vault. Entries are written by the transactions they record. */
export type AuditLog = ReturnType<typeof createAuditLog>

/** Joins what the vault does with its audit log. */
export function createAuditLog(deps: { store: AuditStore; sealer: Pick<Sealer, 'sealNow'> }) {
  const { store, sealer } = deps
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

    /** Creates the partitions of this month and the next three. */
    ensurePartitions: (): Promise<void> => store.ensurePartitions(),

    /** Chains the entries that have no seal yet. Returns their number. */
    sealNow: (): Promise<number> => sealer.sealNow(),
  }
}
