import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { type Administrator, hasAccess } from '../access/administrator.ts'
import type { Projects } from '../projects/projects.ts'

/** How far the audit log is sealed. */
export type SealState = {
  /** The last seal; null before the first. */
  readonly last: { readonly sealNo: number; readonly at: Date } | null
  /** Entries without a seal, counted up to `MAX_UNSEALED`. */
  readonly unsealed: number
  /** When the oldest of them was requested. */
  readonly waitingSince: Date | null
}

/** The reads of the overview. */
export type OverviewStore = {
  /** @param projectUids undefined for all */
  countSecrets(projectUids: readonly string[] | undefined): Promise<number>
  sealState(max: number): Promise<SealState>
}

/** The state of the vault in numbers. */
export type Overview = ReturnType<typeof createOverview>

const MAX_UNSEALED = 10_000

/** Enough time to replace a key before it expires. */
const SOON_MS = 7 * 86_400_000

/** Creates the use case of the overview. */
export function createOverview(deps: { store: OverviewStore; projects: Pick<Projects, 'list'>; clock: Clock }) {
  const { store, projects, clock } = deps
  return {
    /** Returns the counts of an administrator's projects, and how far the audit log is sealed. */
    of: async (administrator: Pick<Administrator, 'projects'>) => {
      const [all, secrets, seal] = await Promise.all([
        projects.list(),
        store.countSecrets(administrator.projects?.map(({ uid }) => uid)),
        store.sealState(MAX_UNSEALED),
      ])
      const shown = all.filter(({ name }) => hasAccess(administrator, name))
      return {
        projects: shown.length,
        projectsWithoutKey: shown.filter(({ keys }) => keys.length === 0).length,
        endingKeys: shown
          .flatMap(({ keys }) => keys)
          .filter(({ until }) => until !== null && until.getTime() < clock.now() + SOON_MS).length,
        secrets,
        seal,
      }
    },
  }
}
