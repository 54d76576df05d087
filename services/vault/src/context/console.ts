import { createVerificationStore } from '../audit/seals.store.ts'
import { createActivityStore } from '../console/activity.store.ts'
import { createActivity } from '../console/activity.ts'
import { createOverviewStore } from '../console/overview.store.ts'
import { createOverview } from '../console/overview.ts'
import { createEntriesByNumber } from '../console/recent-verification.store.ts'
import { createRecentVerification } from '../console/recent-verification.ts'
import type { Projects } from '../projects/projects.ts'
import type { Connections } from './connections.ts'

/** What the console shows besides, joined. */
export type ConsoleParts = ReturnType<typeof createConsoleParts>

/** Joins the overview, the requests over time and the check of the newest entries of the audit log. */
export function createConsoleParts({ chainKeys, db, clock }: Connections, projects: Projects) {
  return {
    overview: createOverview({ store: createOverviewStore(db), projects }),
    activity: createActivity({ store: createActivityStore(db), clock }),
    recentVerification: createRecentVerification({
      store: { ...createVerificationStore(db), ...createEntriesByNumber(db) },
      chainKey: () => chainKeys.first(),
    }),
  }
}
