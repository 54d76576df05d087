import { recordAdminAction } from '../admin-log/admin-log.store.ts'
import { lockUser, onPage, readPage } from '../db/queries.store.ts'
import type { Db } from '../db/schema.ts'
import { notify } from '../notices/notices.store.ts'
import type { Report, ReportStore } from './reports.ts'

/** Reports in Postgres. */
export function createReportStore(db: Db): ReportStore {
  return {
    create: ({ id, torrentId, reporterId, reason, at, maxOpen }) =>
      db.transaction().execute(async (trx) => {
        await lockUser(trx, reporterId)
        const open = await trx
          .selectFrom('reports')
          .select('torrent_id')
          .where('reporter_id', '=', reporterId)
          .where('resolved_at', 'is', null)
          .execute()
        if (open.some((report) => report.torrent_id === torrentId)) return 'reported'
        if (open.length >= maxOpen) return 'limited'
        await trx
          .insertInto('reports')
          .values({ id, torrent_id: torrentId, reporter_id: reporterId, reason, created_at: at })
          .execute()
        return 'created'
      }),

    async list({ state, ...page }) {
      const isOpen = state === 'open'
      const rows = joined(db)
        .where('reports.resolved_at', isOpen ? 'is' : 'is not', null)
        .orderBy(isOpen ? 'reports.created_at' : 'reports.resolved_at', isOpen ? 'asc' : 'desc')
        .orderBy('reports.id', isOpen ? 'asc' : 'desc')
        .$call(onPage(page))
      const all = db
        .selectFrom('reports')
        .select('id')
        .where('resolved_at', isOpen ? 'is' : 'is not', null)
      const { items, ...rest } = await readPage(db, page, rows, all)
      return { ...rest, items: items.map(toReport) }
    },

    resolve: (id, note, by) =>
      db.transaction().execute(async (trx) => {
        const { numUpdatedRows } = await trx
          .updateTable('reports')
          .set({ resolved_at: by.at, resolved_by: by.actorId, note })
          .where('id', '=', id)
          .where('resolved_at', 'is', null)
          .executeTakeFirstOrThrow()
        const row = await joined(trx).where('reports.id', '=', id).executeTakeFirst()
        if (row === undefined) return undefined
        if (numUpdatedRows === 0n) return 'resolved'
        const report = toReport(row)
        const target = { type: 'torrent', id: report.torrent.id, name: report.torrent.name } as const
        const [before, after] = [
          { reason: report.reason, resolved: false },
          { note, resolved: true },
        ]
        await recordAdminAction(trx, by, { action: 'report.resolve', target, before, after })
        // The note is for staff.
        const { id: torrentId, name, isDeleted } = report.torrent
        await notify(trx, by, [
          { to: report.reporter.id, kind: 'report', ...(isDeleted ? { details: { name } } : { torrentId }) },
        ])
        return report
      }),
  }
}

function joined(from: Db) {
  return from
    .selectFrom('reports')
    .innerJoin('torrents', 'torrents.id', 'reports.torrent_id')
    .innerJoin('users as reporter', 'reporter.id', 'reports.reporter_id')
    .leftJoin('users as resolver', 'resolver.id', 'reports.resolved_by')
    .select(['reports.id', 'reports.reason', 'reports.created_at', 'reports.resolved_at', 'reports.note'])
    .select(['torrents.id as torrent_id', 'torrents.name', 'torrents.deleted_at'])
    .select(['reporter.id as reporter_id', 'reporter.username as reporter'])
    .select(['resolver.id as resolver_id', 'resolver.username as resolver'])
}

type Row = Awaited<ReturnType<ReturnType<typeof joined>['executeTakeFirstOrThrow']>>

function toReport(row: Row): Report {
  const { resolver_id, resolver } = row
  return {
    id: row.id,
    torrent: { id: row.torrent_id, name: row.name, isDeleted: row.deleted_at !== null },
    reporter: { id: row.reporter_id, username: row.reporter },
    reason: row.reason,
    created: row.created_at,
    resolved: row.resolved_at,
    resolvedBy: resolver_id === null || resolver === null ? null : { id: resolver_id, username: resolver },
    note: row.note,
  }
}
