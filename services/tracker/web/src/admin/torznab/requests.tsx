import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { formatValue } from '@vault-and-tracker/web-kit/chart'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Ago, formatCount } from '@vault-and-tracker/web-kit/format'
import { type Column, Pages, Table, totalText } from '@vault-and-tracker/web-kit/table'
import { useMemo } from 'react'
import type { TorznabRequest } from '../../api/client.ts'
import { Addresses } from './addresses.tsx'
import { errorText } from './error-names.ts'
import { requests, settings } from './queries.ts'
import { RequestFilters } from './request-filters.tsx'
import type { RequestSearch } from './search.ts'

/** The log of requests, the newest first. */
export function Requests({ search }: { search: RequestSearch }) {
  const { data, error, refetch, isPlaceholderData, dataUpdatedAt } = useQuery(requests(search))
  const columns = useMemo(() => columnsAt(dataUpdatedAt), [dataUpdatedAt])
  const isNarrowed = Object.entries(search).some(([name, value]) => name !== 'page' && value !== undefined)
  return (
    <>
      <RequestFilters key={JSON.stringify({ ...search, page: undefined })} search={search} />
      <LoggingNotice />
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={15} label="Requests are loading." />
      ) : data.items.length === 0 ? (
        <Empty title={search.page === undefined ? 'No request is like this.' : `There is no page ${search.page}.`}>
          <Link to="/admin/torznab" search={{ tab: 'requests' }}>
            All requests
          </Link>
        </Empty>
      ) : (
        <>
          <p className="muted" role="status">
            {totalText(data, 'request')}
            {isNarrowed && (
              <>
                {' · '}
                <Link to="/admin/torznab" search={{ tab: 'requests' }}>
                  All requests
                </Link>
              </>
            )}
          </p>
          <Table
            caption="Requests to the Torznab API"
            columns={columns}
            rows={data.items}
            rowKey={({ id }) => id}
            isStale={isPlaceholderData}
          />
          <Pages list={data} />
        </>
      )}
      {!isNarrowed && search.page === undefined && <Addresses />}
    </>
  )
}

function LoggingNotice() {
  const { data } = useQuery(settings)
  if (data?.logging !== false) return null
  return (
    <p className="notice">
      <span>
        New requests are not logged: logging is switched off under{' '}
        <Link to="/admin/torznab" search={{ tab: 'configuration' }}>
          Configuration
        </Link>
        .
      </span>
    </p>
  )
}

function columnsAt(now: number): readonly Column<TorznabRequest>[] {
  return [
    {
      key: 'query',
      head: 'Query',
      isMain: true,
      cell: ({ query, function: name }) =>
        query === '' ? (
          <span className="muted">{name.endsWith('search') ? 'the newest' : 'no parameters'}</span>
        ) : (
          <code>{query}</code>
        ),
    },
    {
      key: 'user',
      head: 'User',
      isEvident: true,
      cell: ({ user }) => (
        <Link to="/admin/torznab" search={{ tab: 'requests', user: user.username }} className="quiet-link">
          {user.username}
        </Link>
      ),
    },
    { key: 'function', head: 'Function', isEvident: true, cell: ({ function: name }) => name },
    {
      key: 'outcome',
      head: 'Outcome',
      isEvident: true,
      cell: ({ error, results }) =>
        error === null ? (
          `${formatCount(results)} ${results === 1 ? 'result' : 'results'}`
        ) : (
          <span className="tag" data-tone="bad">
            {errorText(error)}
          </span>
        ),
    },
    { key: 'client', head: 'Application', isEvident: true, cell: ({ client }) => client },
    {
      key: 'duration',
      head: 'Took',
      align: 'end',
      isEvident: true,
      cell: ({ durationMs }) => formatValue(durationMs, 'ms'),
    },
    { key: 'at', head: 'When', align: 'end', isEvident: true, cell: ({ at }) => <Ago time={at} now={now} /> },
  ]
}
