import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Ago, formatBytes } from '@vault-and-tracker/web-kit/format'
import { PageHead } from '@vault-and-tracker/web-kit/frame'
import { Tabs } from '@vault-and-tracker/web-kit/layout'
import { NoSuchPage, Pages, totalText } from '@vault-and-tracker/web-kit/table'
import { useEffect, useRef, useState } from 'react'
import type { ListedTorrent, Torrent } from '../../api/client.ts'
import { BreakableName } from '../../release/release-tags.tsx'
import '../manage.css'
import { DecideSelected, type Seen } from './decide-selected.tsx'
import { queue } from './queries.ts'
import { Review } from './review.tsx'
import { type QueueSearch, STATES, type State } from './search.ts'
import { VERDICT_NAMES } from './verdict-names.ts'

const route = getRouteApi('/admin/moderation')
const STATE_NAMES = { pending: 'Pending', approved: 'Approved', rejected: 'Rejected' } as const

/** The moderation queue, oldest first, and the selected torrent. */
export function ModerationPage() {
  const search = route.useSearch()
  const { state = 'pending' } = search
  const { data, error, refetch, dataUpdatedAt } = useQuery(queue(state, search.page))
  const [marked, setMarked] = useState<readonly Seen[]>([])
  // Torrents that left the page or changed are no longer selected.
  const selected = marked.filter(({ id, version }) =>
    data?.items.some((item) => item.id === id && item.version === version),
  )
  return (
    <>
      <PageHead title="Moderation" count={data ? totalText(data, 'torrent') : ''} />
      <Tabs
        label="State"
        name="state"
        tabs={STATES.map((each) => [each === 'pending' ? undefined : each, STATE_NAMES[each]] as const)}
        current={search.state}
      />
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={12} label="Loading the queue…" />
      ) : data.items.length === 0 && data.page > 1 ? (
        <NoSuchPage list={data} />
      ) : data.items.length === 0 ? (
        <Nothing state={state} />
      ) : (
        <div className="moderation" data-chosen={search.torrent !== undefined}>
          <div className="moderation-queue">
            {selected.length > 0 && <DecideSelected torrents={selected} onDecided={setMarked} />}
            <Queue
              items={data.items}
              search={search}
              now={dataUpdatedAt}
              selected={selected}
              onSelect={(torrent, isSelected) =>
                setMarked(isSelected ? [...selected, torrent] : selected.filter(({ id }) => id !== torrent.id))
              }
            />
            <Pages list={data} without="torrent" />
          </div>
          <Review items={data.items} search={search} />
        </div>
      )}
    </>
  )
}

type Queued = ListedTorrent & Pick<Torrent, 'verdict'> & Seen

function Queue(props: {
  items: readonly Queued[]
  search: QueueSearch
  now: number
  selected: readonly Seen[]
  onSelect: (torrent: Seen, isSelected: boolean) => void
}) {
  const { items, search, now, selected, onSelect } = props
  const chosen = search.torrent ?? items[0]?.id
  const list = useRef<HTMLOListElement>(null)
  useEffect(() => {
    if (chosen !== undefined) list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [chosen])
  return (
    <ol ref={list} className="queue" aria-label="Torrents">
      {items.map(({ id, version, name, uploader, size, created, verdict }) => (
        <li key={id} className="queue-row">
          <input
            type="checkbox"
            aria-label={`Select ${name}`}
            checked={selected.some((each) => each.id === id)}
            onChange={({ target }) => onSelect({ id, version }, target.checked)}
          />
          <Link
            to="/admin/moderation"
            search={{ ...search, torrent: id }}
            activeProps={{}}
            aria-current={id === chosen ? 'true' : undefined}
            data-current={id === chosen}
            resetScroll={false}
          >
            <span className="queue-name">
              <BreakableName name={name} />{' '}
              {verdict !== null && (
                <span className="tag" data-tone={verdict === 'replaces' ? 'good' : 'warn'}>
                  {VERDICT_NAMES[verdict]}
                </span>
              )}
            </span>
            <span className="queue-facts">
              {uploader ?? 'Deleted account'} · {formatBytes(size)} · <Ago time={created} now={now} />
            </span>
          </Link>
        </li>
      ))}
    </ol>
  )
}

function Nothing({ state }: { state: State }) {
  if (state !== 'pending') return <Empty title={`No ${state} torrents.`} />
  return (
    <Empty title="No torrents are awaiting approval.">
      <p>Uploads that need approval appear here. Administrators can require approval under Staff, Site.</p>
    </Empty>
  )
}
