import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Ago, formatBytes } from '@vault-and-tracker/web-kit/format'
import { EXACT, usePageTitle } from '@vault-and-tracker/web-kit/frame'
import { Tabs } from '@vault-and-tracker/web-kit/layout'
import { Pages, totalText } from '@vault-and-tracker/web-kit/table'
import { useEffect, useRef } from 'react'
import type { ListedTorrent } from '../../api/client.ts'
import { BreakableName } from '../../release/release-tags.tsx'
import '../manage.css'
import { queue } from './queries.ts'
import { Review } from './review.tsx'
import { type QueueSearch, STATES, type State } from './search.ts'

const route = getRouteApi('/admin/moderation')
const STATE_NAMES = { pending: 'Waiting', approved: 'Approved', rejected: 'Rejected' } as const

/** Torrents that wait for approval, the oldest first, and the one that is looked at. */
export function ModerationPage() {
  const search = route.useSearch()
  const { state = 'pending' } = search
  const { data, error, refetch, dataUpdatedAt } = useQuery(queue(state, search.page))
  usePageTitle('Moderation')
  return (
    <>
      <header className="manage-head">
        <h1>Moderation</h1>
        <p className="muted" role="status">
          {data && totalText(data, 'torrent')}
        </p>
      </header>
      <Tabs
        label="States"
        tabs={STATES.map((each) => [each, STATE_NAMES[each]] as const)}
        current={state}
        link={(each, attributes, text) => (
          <Link
            to="/admin/moderation"
            search={each === 'pending' ? {} : { state: each }}
            activeOptions={EXACT}
            {...attributes}
          >
            {text}
          </Link>
        )}
      />
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={12} label="The queue is loading." />
      ) : data.items.length === 0 ? (
        <Nothing state={state} page={search.page} />
      ) : (
        <div className="moderation" data-chosen={search.torrent !== undefined}>
          <div className="moderation-queue">
            <Queue items={data.items} search={search} now={dataUpdatedAt} />
            <Pages
              list={data}
              link={(page, text) => (
                <Link to="/admin/moderation" search={{ ...search, page, torrent: undefined }} className="button">
                  {text}
                </Link>
              )}
            />
          </div>
          <Review items={data.items} search={search} />
        </div>
      )}
    </>
  )
}

function Queue({ items, search, now }: { items: readonly ListedTorrent[]; search: QueueSearch; now: number }) {
  const chosen = search.torrent ?? items[0]?.id
  const list = useRef<HTMLOListElement>(null)
  useEffect(() => {
    if (chosen !== undefined) list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [chosen])
  return (
    <ol ref={list} className="queue" aria-label="Torrents">
      {items.map(({ id, name, uploader, size, created }) => (
        <li key={id}>
          <Link
            to="/admin/moderation"
            search={{ ...search, torrent: id }}
            activeProps={{}}
            aria-current={id === chosen ? 'true' : undefined}
            data-current={id === chosen}
            resetScroll={false}
          >
            <span className="queue-name">
              <BreakableName name={name} />
            </span>
            <span className="queue-facts">
              {uploader ?? 'a deleted account'} · {formatBytes(size)} · <Ago time={created} now={now} />
            </span>
          </Link>
        </li>
      ))}
    </ol>
  )
}

function Nothing({ state, page }: { state: State; page: number | undefined }) {
  if (page !== undefined)
    return (
      <Empty title={`There is no page ${page}.`}>
        <Link to="/admin/moderation" search={state === 'pending' ? {} : { state }}>
          First page
        </Link>
      </Empty>
    )
  if (state !== 'pending') return <Empty title={`No torrent is ${state}.`} />
  return (
    <Empty title="No torrent waits for approval.">
      <p>
        Uploads of members come here where approval is by hand: <code>UPLOAD_APPROVAL=manual</code>.
      </p>
    </Empty>
  )
}
