import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { formatBytes, formatCount, formatDuration } from '@vault-and-tracker/web-kit/format'
import { PageHead } from '@vault-and-tracker/web-kit/frame'
import { Facts, Tabs } from '@vault-and-tracker/web-kit/layout'
import { type Column, NoSuchPage, Pages, Table } from '@vault-and-tracker/web-kit/table'
import type { OwnTorrent } from '../../api/client.ts'
import { columnsOf } from './columns.tsx'
import { ownTorrents, ownTotals } from './queries.ts'
import { INITIAL_SORTS, type OwnList, type OwnSearch, type OwnSort } from './search.ts'
import './torrents.css'

const route = getRouteApi('/me/torrents')
const TABS = [
  [undefined, 'Uploads'],
  ['seeding', 'Seeding'],
  ['leeching', 'Leeching'],
  ['snatched', 'Snatched'],
  ['duties', 'Still to seed'],
] as const

/** The torrents that the member uploaded, transfers, snatched or still has to seed. */
export function OwnTorrentsPage() {
  const search = route.useSearch()
  const { list = 'uploads' } = search
  const { data, error, refetch, isPlaceholderData, dataUpdatedAt } = useQuery(ownTorrents(search))
  const { data: totals } = useQuery(ownTotals(list))
  const columns = columnsOf(list, dataUpdatedAt, totals?.requiredSeconds)
  return (
    <div className="stack">
      <PageHead title="Your torrents">
        <Link to="/torrents" search={{ mine: 'bookmarked' }}>
          Bookmarks
        </Link>
      </PageHead>
      <Tabs label="Lists" name="list" tabs={TABS} current={search.list} />
      {list === 'duties' && totals !== undefined && <Rule seconds={totals.requiredSeconds} />}
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={12} label="Loading torrents…" />
      ) : data.items.length === 0 ? (
        data.page === 1 ? (
          <Nothing list={list} />
        ) : (
          <NoSuchPage list={data} />
        )
      ) : (
        <>
          {totals && <Totals totals={totals} />}
          <SortedTable rows={data.items} search={search} isStale={isPlaceholderData} columns={columns} />
          <Pages list={data} />
        </>
      )}
    </div>
  )
}

function SortedTable(props: {
  rows: readonly OwnTorrent[]
  search: OwnSearch
  isStale: boolean
  columns: readonly Column<OwnTorrent>[]
}) {
  const { rows, search, isStale, columns } = props
  const initial = INITIAL_SORTS[search.list ?? 'uploads']
  const { by = initial, order = 'desc' } = search
  const navigate = useNavigate()
  const sortedBy = (sort: string, next: string): OwnSearch => ({
    list: search.list,
    by: sort === initial ? undefined : (sort as OwnSort),
    order: next === 'asc' ? 'asc' : undefined,
  })
  return (
    <>
      <select
        className="input only-narrow"
        aria-label="Order"
        value={`${by} ${order}`}
        onChange={({ target }) => {
          const [sort = '', next = ''] = target.value.split(' ')
          void navigate({ to: '/me/torrents', search: sortedBy(sort, next) })
        }}
      >
        {columns.flatMap(({ head, sort, orders: [least, most] = ['least first', 'most first'] }) =>
          sort === undefined
            ? []
            : [
                <option key={`${sort} desc`} value={`${sort} desc`}>{`${head}, ${most}`}</option>,
                <option key={`${sort} asc`} value={`${sort} asc`}>{`${head}, ${least}`}</option>,
              ],
        )}
      </select>
      <Table
        caption="Your torrents"
        columns={columns}
        rows={rows}
        rowKey={({ id }) => id}
        isStale={isStale}
        sorting={{
          by,
          order,
          link: (sort, next, content, label) => (
            <Link to="/me/torrents" search={sortedBy(sort, next)} aria-label={label}>
              {content}
            </Link>
          ),
        }}
      />
    </>
  )
}

type Sums = {
  readonly total: number
  readonly totalIsExact: boolean
  readonly size: number
  readonly uploaded: number
  readonly downloaded: number
}

function Totals({ totals: { total, totalIsExact, size, uploaded, downloaded } }: { totals: Sums }) {
  const more = totalIsExact ? '' : '+'
  return (
    <Facts
      facts={[
        ['Torrents', formatCount(total) + more],
        ['Size', formatBytes(size) + more],
        ['Uploaded', formatBytes(uploaded) + more],
        ['Downloaded', formatBytes(downloaded) + more],
      ]}
    />
  )
}

function Rule({ seconds }: { seconds: number }) {
  if (seconds === 0) return <p>This tracker has no minimum seed time.</p>
  return (
    <p className="prose">
      Seed each completed torrent for {formatDuration(seconds)}, or until you have uploaded as much as you downloaded.
    </p>
  )
}

const EMPTY = {
  uploads: 'You have not uploaded any torrents.',
  seeding: 'You are not seeding any torrents.',
  leeching: 'You are not downloading any torrents.',
  snatched: 'You have not completed any torrents.',
  duties: 'You have nothing left to seed.',
} as const

function Nothing({ list }: { list: OwnList }) {
  return (
    <Empty title={EMPTY[list]}>
      {list === 'uploads' && <Link to="/upload">Upload torrent</Link>}
      {(list === 'seeding' || list === 'leeching') && <p>Torrents appear here after your client announces them.</p>}
    </Empty>
  )
}
