import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isId, newId } from '@vault-and-tracker/service-kit/core/ids'
import type { Account } from '../accounts/accounts.ts'
import { type ActedBy, actedBy } from '../admin-log/admin-log.ts'
import { apiError } from '../errors.ts'
import type { Listed, Page } from '../pagination.ts'

/** Unresolved reports of one member. */
const MAX_OPEN = 10

export const REPORT_STATES = ['open', 'resolved'] as const
type ReportState = (typeof REPORT_STATES)[number]

type Named = { readonly id: string; readonly username: string }

/** A report of a torrent by a member. */
export type Report = {
  readonly id: string
  readonly torrent: { readonly id: string; readonly name: string; readonly isDeleted: boolean }
  readonly reporter: Named
  readonly reason: string
  readonly created: Date
  /** Null while it is open. */
  readonly resolved: Date | null
  readonly resolvedBy: Named | null
  readonly note: string | null
}

export type NewReport = {
  readonly id: string
  readonly torrentId: string
  readonly reporterId: string
  readonly reason: string
  readonly at: Date
  readonly maxOpen: number
}

/** The store of reports. Each method is one atomic change. */
export type ReportStore = {
  create(report: NewReport): Promise<'created' | 'reported' | 'limited'>
  /** Open reports oldest first, resolved ones by their resolution, newest first. */
  list(query: Page & { readonly state: ReportState }): Promise<Listed<Report>>
  /** Resolves an open report, which the admin log records. */
  resolve(id: string, note: string, by: ActedBy): Promise<Report | 'resolved' | undefined>
}

const REFUSALS = {
  reported: 'You have already reported this torrent. Staff will look at it.',
  limited: `You have ${MAX_OPEN} open reports. Wait until staff have resolved some of them.`,
} as const

export type Reports = ReturnType<typeof createReports>

/** Reports of torrents, which staff resolve. */
export function createReports(deps: {
  store: ReportStore
  torrents: { findVisible(id: string, viewer: Account): Promise<{ readonly id: string }> }
  clock: Clock
}) {
  const { store, torrents, clock } = deps
  return {
    list: (query: Page & { readonly state: ReportState }): Promise<Listed<Report>> => store.list(query),

    /** @throws ApiError NOT_FOUND, or CONFLICT if the member has reported it or has too many open reports */
    async report(torrentId: string, reporter: Account, reason: string): Promise<void> {
      const { id } = await torrents.findVisible(torrentId, reporter)
      const at = new Date(clock.now())
      const report = { id: newId(), torrentId: id, reporterId: reporter.id, reason, at, maxOpen: MAX_OPEN }
      const outcome = await store.create(report)
      if (outcome !== 'created') throw apiError('CONFLICT', REFUSALS[outcome])
    },

    /** @throws ApiError NOT_FOUND, or CONFLICT if it has been resolved */
    async resolve(id: string, note: string, by: Account): Promise<Report> {
      const resolved = isId(id) ? await store.resolve(id, note, actedBy(clock, by.id)) : undefined
      if (resolved === undefined) throw apiError('NOT_FOUND', 'There is no such report.')
      if (resolved === 'resolved') throw apiError('CONFLICT', 'This report has already been resolved.')
      return resolved
    },
  }
}
