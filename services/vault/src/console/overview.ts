import { type Administrator, touches } from '../admin/permissions.ts'
import type { Projects } from '../projects/projects.ts'

/** How far the audit log is sealed. */
export type SealState = {
  /** The last seal; null before the first. */
  readonly last: { readonly sealNo: number; readonly at: Date } | null
  /** Entries that wait for a seal, counted up to `MOST_UNSEALED`. */
  readonly unsealed: number
  /** When the one that has waited longest was requested. */
  readonly waitingSince: Date | null
}

/** The reads of the overview. */
export type OverviewStore = {
  /** @param projectUids undefined for all */
  countSecrets(projectUids: readonly string[] | undefined): Promise<number>
  sealState(most: number): Promise<SealState>
}

/** What administrators look at first. */
export type Overview = ReturnType<typeof createOverview>

const MOST_UNSEALED = 10_000

/** Creates the overview. */
export function createOverview(deps: { store: OverviewStore; projects: Pick<Projects, 'list'> }) {
  const { store, projects } = deps
  return {
    /** Numbers of the projects that an administrator may touch, and how far the audit log is sealed. */
    of: async (administrator: Pick<Administrator, 'projects'>) => {
      const [all, secrets, seal] = await Promise.all([
        projects.list(),
        store.countSecrets(administrator.projects?.map(({ uid }) => uid)),
        store.sealState(MOST_UNSEALED),
      ])
      const shown = all.filter(({ name }) => touches(administrator, name))
      return {
        projects: shown.length,
        projectsWithoutKey: shown.filter(({ keys }) => keys.length === 0).length,
        endingKeys: shown.flatMap(({ keys }) => keys).filter(({ notAfter }) => notAfter !== null).length,
        secrets,
        seal,
      }
    },
  }
}
