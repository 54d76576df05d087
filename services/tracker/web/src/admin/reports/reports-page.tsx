import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { Ago } from '@vault-and-tracker/web-kit/format'
import { PageHead } from '@vault-and-tracker/web-kit/frame'
import { Tabs } from '@vault-and-tracker/web-kit/layout'
import { type Column, NoSuchPage, Pages, Table, totalText } from '@vault-and-tracker/web-kit/table'
import { useState } from 'react'
import type { Report } from '../../api/client.ts'
import { BreakableName } from '../../release/release-tags.tsx'
import '../manage.css'
import './reports.css'
import { reports } from './queries.ts'
import { ResolveDialog } from './resolve-dialog.tsx'

const route = getRouteApi('/admin/reports')

/** Reports of torrents: the open ones oldest first, or the resolved ones. */
export function ReportsPage() {
  const search = route.useSearch()
  const { data, error, refetch, dataUpdatedAt } = useQuery(reports(search))
  const [resolving, setResolving] = useState<Report>()
  return (
    <>
      <PageHead title="Reports" count={data ? totalText(data, 'report') : ''} />
      <Tabs
        label="State"
        name="state"
        tabs={[
          [undefined, 'Open'],
          ['resolved', 'Resolved'],
        ]}
        current={search.state}
      />
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={8} label="Loading reports…" />
      ) : data.items.length === 0 ? (
        data.page === 1 ? (
          <Empty title={search.state === undefined ? 'No open reports.' : 'No resolved reports.'} />
        ) : (
          <NoSuchPage list={data} />
        )
      ) : (
        <>
          <Table
            caption="Reports"
            columns={columnsFor(dataUpdatedAt, search.state === undefined ? setResolving : undefined)}
            rows={data.items}
            rowKey={({ id }) => id}
          />
          <Pages list={data} />
        </>
      )}
      {resolving && <ResolveDialog report={resolving} onClose={() => setResolving(undefined)} />}
    </>
  )
}

function columnsFor(now: number, onResolve: ((report: Report) => void) | undefined): readonly Column<Report>[] {
  return [
    {
      head: 'Torrent',
      isMain: true,
      cell: ({ torrent, reason, note }) => (
        <>
          {torrent.isDeleted ? (
            <>
              <BreakableName name={torrent.name} /> <span className="tag">Deleted</span>
            </>
          ) : (
            <Link to="/torrents/$id" params={{ id: torrent.id }}>
              <BreakableName name={torrent.name} />
            </Link>
          )}
          <p className="report-text" dir="auto">
            {reason}
          </p>
          {note !== null && note !== '' && (
            <p className="report-text muted" dir="auto">
              Note: {note}
            </p>
          )}
        </>
      ),
    },
    {
      head: 'Reported by',
      cell: ({ reporter }) => (
        <Link to="/users/$id" params={{ id: reporter.id }}>
          {reporter.username}
        </Link>
      ),
    },
    { head: 'Reported', cell: ({ created }) => <Ago time={created} now={now} /> },
    onResolve === undefined
      ? {
          head: 'Resolved',
          cell: ({ resolvedBy, resolved }) => (
            <>
              {resolvedBy?.username ?? 'Deleted account'}, <Ago time={resolved} now={now} />
            </>
          ),
        }
      : {
          head: 'Action',
          cell: (report) => (
            <Button className="small" onClick={() => onResolve(report)}>
              Resolve report
            </Button>
          ),
        },
  ]
}
