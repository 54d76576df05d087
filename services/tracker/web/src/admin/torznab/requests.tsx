import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { formatValue } from '@vault-and-tracker/web-kit/chart'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Button, type Choice, SelectField, TextField } from '@vault-and-tracker/web-kit/form'
import { Ago, formatCount, formatExactTime, formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { type Column, Pages, Table, totalText } from '@vault-and-tracker/web-kit/table'
import { useMemo } from 'react'
import type { TorznabAddress, TorznabRequest } from '../../api/client.ts'
import { TimeFields } from '../parts/time-fields.tsx'
import { addresses, requests, settings } from './queries.ts'
import { FUNCTIONS, readTorznabSearch, type TorznabSearch } from './search.ts'

/** Errors of logged requests by code. */
const ERRORS: Readonly<Record<string, string>> = {
  101: 'account suspended',
  102: 'not allowed',
  201: 'incorrect parameter',
  300: 'no such function or item',
  500: 'limit reached',
  900: 'internal error',
}

const FUNCTION_CHOICES: readonly Choice<string>[] = [['', 'Any'], ...FUNCTIONS.map((name) => [name, name] as const)]
const OUTCOME_CHOICES: readonly Choice<string>[] = [
  ['', 'Any'],
  ['false', 'Success'],
  ['true', 'Any error'],
  ...Object.entries(ERRORS).map(([code, name]) => [code, `${code} ${name}`] as const),
]

/** The request log, newest first. */
export function Requests({ search }: { search: TorznabSearch }) {
  const { data, error, refetch, isPlaceholderData, dataUpdatedAt } = useQuery(requests(search))
  const columns = useMemo(() => columnsAt(dataUpdatedAt), [dataUpdatedAt])
  const { user, address, function: name, from, to, page } = search
  const filters = [user, address, name, search.error, from, to]
  const isNarrowed = filters.some((filter) => filter !== undefined)
  const showAll = (
    <Link to="/admin/torznab" search={{ tab: 'requests' }}>
      Show all requests
    </Link>
  )
  return (
    <>
      <Filters key={filters.join()} search={search} />
      <LoggingNotice />
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={15} label="Loading requests…" />
      ) : data.items.length === 0 ? (
        <Empty title={isNarrowed ? 'No matching requests.' : 'No requests.'}>
          {(isNarrowed || page !== undefined) && showAll}
        </Empty>
      ) : (
        <>
          <p className="muted" role="status">
            {totalText(data, 'request')} {isNarrowed && <>· {showAll}</>}
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
      {!isNarrowed && page === undefined && <Addresses />}
    </>
  )
}

/** All filters apply at once, because a range of times takes two fields. */
function Filters({ search }: { search: TorznabSearch }) {
  const navigate = useNavigate()
  return (
    <form
      className="request-filters"
      role="search"
      aria-label="Requests"
      onSubmit={(event) => {
        event.preventDefault()
        const filters = readTorznabSearch(Object.fromEntries(new FormData(event.currentTarget)))
        void navigate({ to: '/admin/torznab', search: { ...filters, tab: 'requests' } })
      }}
    >
      <TextField label="User" name="user" maxLength={64} autoComplete="off" defaultValue={search.user} />
      <TextField label="Address" name="address" maxLength={50} autoComplete="off" defaultValue={search.address} />
      <SelectField label="Function" name="function" defaultValue={search.function} choices={FUNCTION_CHOICES} />
      <SelectField label="Outcome" name="error" defaultValue={search.error} choices={OUTCOME_CHOICES} />
      <TimeFields from={search.from} to={search.to} />
      <Button type="submit">Show</Button>
    </form>
  )
}

function LoggingNotice() {
  const { data } = useQuery(settings)
  if (data?.logging !== false) return null
  return (
    <p className="notice">
      <span>
        New requests are not logged. Turn request logging on in the{' '}
        <Link to="/admin/torznab" search={{ tab: 'configuration' }}>
          settings
        </Link>
        .
      </span>
    </p>
  )
}

function columnsAt(now: number): readonly Column<TorznabRequest>[] {
  return [
    {
      head: 'Query',
      isMain: true,
      cell: ({ query, function: name }) =>
        query === '' ? (
          <span className="muted">{name.endsWith('search') ? 'latest torrents' : 'no parameters'}</span>
        ) : (
          <code>{query}</code>
        ),
    },
    {
      head: 'User',
      isEvident: true,
      cell: ({ user }) => (
        <Link to="/admin/users/$id" params={{ id: user.id }} className="quiet-link" preload={false}>
          {user.username}
        </Link>
      ),
    },
    {
      head: 'Address',
      isEvident: true,
      cell: ({ address }) =>
        address !== null && (
          <Link to="/admin/users/addresses" search={{ address }} className="quiet-link" preload={false}>
            {address}
          </Link>
        ),
    },
    { head: 'Function', isEvident: true, cell: ({ function: name }) => name },
    {
      head: 'Outcome',
      isEvident: true,
      cell: ({ error, results }) =>
        error === null ? (
          formatNumberOf(results, 'result')
        ) : (
          <span className="tag" data-tone="bad">
            {error} {ERRORS[String(error)]}
          </span>
        ),
    },
    { head: 'Application', isEvident: true, cell: ({ client }) => client },
    { head: 'Duration', align: 'end', isEvident: true, cell: ({ durationMs }) => formatValue(durationMs, 'ms') },
    { head: 'Time', align: 'end', isEvident: true, cell: ({ at }) => <Ago time={at} now={now} /> },
  ]
}

const ADDRESS_COLUMNS: readonly Column<TorznabAddress>[] = [
  { head: 'Address', isMain: true, cell: ({ address }) => address },
  { head: 'Requests', align: 'end', cell: ({ requests: count }) => formatCount(count) },
  { head: 'Wrong keys', align: 'end', cell: ({ wrongKeys }) => formatCount(wrongKeys) },
  { head: 'Over limits', align: 'end', cell: ({ overLimits }) => formatCount(overLimits) },
  {
    head: 'Hour',
    align: 'end',
    isEvident: true,
    cell: ({ hour }) => <time dateTime={hour}>{formatExactTime(hour)}</time>,
  },
]

/** Requests that are counted by address instead of logged. */
function Addresses() {
  const { data, error, refetch } = useQuery(addresses)
  return (
    <section className="block-list" aria-labelledby="unlogged-requests">
      <h2 id="unlogged-requests">Refused and anonymous requests</h2>
      <p className="muted">
        Counted per hour for each address instead of logged. Most tools request the capabilities, which need no key.
      </p>
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={3} label="Loading addresses…" />
      ) : data.items.length === 0 ? (
        <Empty title="No refused or anonymous requests." />
      ) : (
        <Table
          caption="Refused and anonymous requests by address and hour"
          columns={ADDRESS_COLUMNS}
          rows={data.items}
          rowKey={({ address, hour }) => hour + address}
        />
      )}
    </section>
  )
}
