import type { Projects } from '../projects/projects.ts'

/** A list of projects that an administrator may touch; null for all. */
type Touchable = readonly string[] | null

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
  /** @param projects undefined for all */
  countSecrets(projects: readonly string[] | undefined): Promise<number>
  sealState(most: number): Promise<SealState>
}

/** What administrators look at first. */
export type Overview = ReturnType<typeof createOverview>

const MOST_UNSEALED = 10_000

/** Creates the overview. */
export function createOverview(deps: { store: OverviewStore; projects: Pick<Projects, 'list' | 'allKeys'> }) {
  const { store, projects } = deps
  return {
    /** Numbers of the projects that an administrator may touch, and how far the audit log is sealed. */
    of: async (touchable: Touchable) => {
      const isShown = (name: string): boolean => touchable === null || touchable.includes(name)
      const [all, keys, secrets, seal] = await Promise.all([
        projects.list(),
        projects.allKeys(),
        store.countSecrets(touchable ?? undefined),
        store.sealState(MOST_UNSEALED),
      ])
      const names = all.map(({ name }) => name).filter(isShown)
      const valid = keys.filter(({ project }) => isShown(project))
      const withKey = new Set(valid.map(({ project }) => project))
      return {
        projects: names.length,
        projectsWithoutKey: names.filter((name) => !withKey.has(name)).length,
        endingKeys: valid.filter(({ notAfter }) => notAfter !== null).length,
        secrets,
        seal,
      }
    },
  }
}
