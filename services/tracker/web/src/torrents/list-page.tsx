import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { usePageTitle } from '@vault-and-tracker/web-kit/frame'
import { NoSuchPage, Pages, Table, totalText } from '@vault-and-tracker/web-kit/table'
import { useMemo } from 'react'
import type { ListedTorrent } from '../api/client.ts'
import { categories, flatten } from '../api/queries.ts'
import { torrentColumns } from './columns.tsx'
import { ListFilters } from './list-filters.tsx'
import { filtersIn, type ListSearch, type Sort } from './list-search.ts'
import { torrentList } from './queries.ts'
import { SavedHead, SaveSearch } from './saved/saved-head.tsx'

export function ListPage({ search }: { search: ListSearch }) {
  const { data, error, isPlaceholderData, refetch, dataUpdatedAt } = useQuery(torrentList(search))
  usePageTitle(search.search === undefined ? 'Torrents' : `${search.search} · Torrents`)
  return (
    <>
      <div className="list-head">
        <SavedHead search={search} />
        <p className="muted" role="status">
          {data && totalText(data, 'torrent')}
        </p>
        <ListFilters search={search} />
        <SaveSearch search={search} />
      </div>
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={20} label="Loading torrents…" />
      ) : data.items.length === 0 && data.page > 1 ? (
        <NoSuchPage list={data} />
      ) : data.items.length === 0 ? (
        <Nothing search={search} suggestions={data.suggestions ?? []} now={dataUpdatedAt} />
      ) : (
        <>
          <TorrentTable rows={data.items} search={search} isStale={isPlaceholderData} now={dataUpdatedAt} />
          <Pages list={data} />
        </>
      )}
    </>
  )
}

function TorrentTable(props: {
  rows: readonly ListedTorrent[]
  /** Undefined if the rows cannot be sorted. */
  search?: ListSearch
  isStale?: boolean
  now: number
}) {
  const { rows, search, isStale = false, now } = props
  const { data: tree } = useQuery(categories)
  const columns = useMemo(() => {
    const known = new Map(flatten(tree ?? []).map((category) => [category.slug, category]))
    return torrentColumns(known, now)
  }, [tree, now])
  return (
    <Table
      caption="Torrents"
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      isStale={isStale}
      {...(search && {
        sorting: {
          by: search.sort ?? 'created',
          order: search.order ?? 'desc',
          link: (sort, order, content, label) => (
            <Link
              to="/torrents"
              search={{
                ...search,
                sort: sort === 'created' ? undefined : (sort as Sort),
                order: order === 'desc' ? undefined : order,
                page: undefined,
              }}
              aria-label={label}
            >
              {content}
            </Link>
          ),
        },
      })}
    />
  )
}

function Nothing(props: { search: ListSearch; suggestions: readonly ListedTorrent[]; now: number }) {
  const { search, suggestions, now } = props
  const { search: text, category, ...filters } = filtersIn(search)
  const isFiltered = Object.values(filters).some((value) => value !== undefined)
  if (isFiltered && suggestions.length === 0)
    return (
      <Empty title="No matching torrents. Try fewer filters.">
        <Link to="/torrents" search={{ search: text }}>
          Clear filters
        </Link>
      </Empty>
    )
  if (text === undefined)
    return (
      <Empty title={category === undefined ? 'No torrents yet.' : 'No torrents in this category yet.'}>
        <Link to="/upload">Upload the first torrent</Link>
      </Empty>
    )
  return (
    <>
      <Empty title={`No torrents match “${text}”.`}>
        {category !== undefined && (
          <Link to="/torrents" search={{ ...search, category: undefined }}>
            Search in all categories
          </Link>
        )}
        {suggestions.length === 0 && <p>Try fewer words. You do not need to finish the last one.</p>}
      </Empty>
      {suggestions.length > 0 && (
        <section aria-label="Similar names">
          <h2 className="list-heading">Similar names</h2>
          <TorrentTable rows={suggestions} now={now} />
        </section>
      )}
    </>
  )
}
