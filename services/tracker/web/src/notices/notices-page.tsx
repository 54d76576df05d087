import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Empty, Pending, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { Ago } from '@vault-and-tracker/web-kit/format'
import { PageHead } from '@vault-and-tracker/web-kit/frame'
import { Tabs } from '@vault-and-tracker/web-kit/layout'
import { NoSuchPage, Pages } from '@vault-and-tracker/web-kit/table'
import { api, type Notice } from '../api/client.ts'
import { NoticeText } from './notice-text.tsx'
import './notices.css'
import { noticeList } from './queries.ts'
import { Settings } from './settings.tsx'

const route = getRouteApi('/notices')
const TABS = [
  [undefined, 'All'],
  ['unread', 'Unread'],
  ['settings', 'Settings'],
] as const

/** What happened to the member's torrents, invites and rates. */
export function NoticesPage() {
  const { tab, page } = route.useSearch()
  return (
    <div className="stack">
      <PageHead title="Notices" />
      <Tabs label="Notices" tabs={TABS} current={tab} />
      {tab === 'settings' ? <Settings /> : <List unreadOnly={tab === 'unread'} page={page} />}
    </div>
  )
}

function List({ unreadOnly, page }: { unreadOnly: boolean; page: number | undefined }) {
  const { data, error, refetch, isPlaceholderData, dataUpdatedAt } = useQuery(noticeList(unreadOnly, page))
  const mark = useMark()
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={8} label="Loading notices…" />
  const [newest] = data.items
  if (newest === undefined) return data.page === 1 ? <Nothing unreadOnly={unreadOnly} /> : <NoSuchPage list={data} />
  return (
    <>
      <div className="form-actions">
        <Button
          isBusy={mark.isPending}
          aria-disabled={data.items.every(({ isRead }) => isRead)}
          // Newer ones have not been shown yet.
          onClick={() => mark.mutate(page === undefined ? { until: newest.created } : {})}
        >
          Mark all as read
        </Button>
      </div>
      <ul className="notices" aria-label="Notices" aria-busy={isPlaceholderData}>
        {data.items.map((notice) => (
          <Row key={notice.id} notice={notice} now={dataUpdatedAt} onRead={() => mark.mutate({ id: notice.id })} />
        ))}
      </ul>
      <Pages list={data} />
    </>
  )
}

function Row({ notice, now, onRead }: { notice: Notice; now: number; onRead: () => void }) {
  const { isRead, created } = notice
  return (
    <li data-unread={!isRead}>
      <div className="notice-text">
        {!isRead && <span className="visually-hidden">Unread: </span>}
        <NoticeText notice={notice} onFollow={() => !isRead && onRead()} />
      </div>
      <span className="muted">
        <Ago time={created} now={now} />
      </span>
      {!isRead && (
        <Button
          className="small quiet"
          onClick={({ currentTarget }) => {
            focusNext(currentTarget)
            onRead()
          }}
        >
          Mark as read
        </Button>
      )}
    </li>
  )
}

/** Keeps the focus in the list, because the button disappears. */
function focusNext(button: HTMLButtonElement): void {
  const buttons = [...(button.closest('ul')?.querySelectorAll('button') ?? [])]
  const at = buttons.indexOf(button)
  const next = buttons[at + 1] ?? buttons[at - 1] ?? button.closest<HTMLElement>('main')
  next?.focus()
}

/** Marks one notice as read, or all up to a time. */
function useMark() {
  const queries = useQueryClient()
  return useMutation<unknown, ApiError, { id: string } | { until?: string }>({
    mutationFn: (which) =>
      'id' in which
        ? read(api.POST('/api/notices/{id}/read', { params: { path: { id: which.id } } }))
        : read(api.POST('/api/notices/read', { body: which })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['notices'] }),
    onError: toastProblem,
  })
}

function Nothing({ unreadOnly }: { unreadOnly: boolean }) {
  return (
    <Empty title={unreadOnly ? 'No unread notices.' : 'No notices yet.'}>
      <p>You receive notices about your torrents, rates and more. Choose which under Settings.</p>
    </Empty>
  )
}
