import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Confirm, Empty, Pending, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button, SearchField, Select } from '@vault-and-tracker/web-kit/form'
import { Ago, formatCount, formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { type Column, Pages, Table, totalText } from '@vault-and-tracker/web-kit/table'
import { useMemo, useState } from 'react'
import { api, type TorznabUser } from '../../api/client.ts'
import { ResetPasskey } from '../parts/reset-passkey.tsx'
import { TORZNAB_KEY, users } from './queries.ts'
import type { TorznabSearch } from './search.ts'

/** The users of the API. */
export function Users({ search: { search, blocked, page } }: { search: TorznabSearch }) {
  const navigate = useNavigate()
  const { data } = useQuery(users({ search, blocked, page }))
  const go = (part: TorznabSearch, replace = false): void => {
    void navigate({ to: '/admin/torznab', search: { tab: 'users', search, blocked, ...part }, replace })
  }
  const isNarrowed = search !== undefined || blocked !== undefined
  return (
    <>
      <div className="manage-head">
        <div className="manage-filters">
          <SearchField label="Username" value={search} onChange={(text) => go({ search: text }, true)} />
          <Select
            label="Access"
            all="All users"
            value={blocked}
            choices={[['true', 'Blocked users']]}
            onChange={(value) => go({ blocked: value })}
          />
        </div>
        <p className="muted" role="status">
          {data && totalText(data, 'user')}
        </p>
      </div>
      <UserTable search={{ search, blocked, page }}>
        <Empty title={isNarrowed ? 'No matching users.' : 'No user has used the API yet.'}>
          <Link to="/admin/torznab" search={{ tab: isNarrowed ? 'users' : 'check' }}>
            {isNarrowed ? 'Show all users' : 'Set up a tool'}
          </Link>
        </Empty>
      </UserTable>
      {data && data.items.length > 0 && <Pages list={data} />}
    </>
  )
}

/** A page of users with actions. Shows the children if there are none. */
export function UserTable({ search, children }: { search: TorznabSearch; children: React.ReactNode }) {
  const { data, error, refetch, isPlaceholderData, dataUpdatedAt } = useQuery(users(search))
  const columns = useMemo(() => columnsAt(dataUpdatedAt), [dataUpdatedAt])
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={10} label="Loading users…" />
  if (data.items.length === 0) return children
  return (
    <Table
      caption="Users of the Torznab API"
      columns={columns}
      rows={data.items}
      rowKey={({ user }) => user.id}
      isStale={isPlaceholderData}
    />
  )
}

function columnsAt(now: number): readonly Column<TorznabUser>[] {
  const count = (key: 'requests' | 'downloads' | 'errors' | 'violations', head: string): Column<TorznabUser> => ({
    head,
    align: 'end',
    cell: (row) => formatCount(row[key]),
  })
  return [
    {
      head: 'User',
      isMain: true,
      cell: ({ user, blocked }) => (
        <>
          <Link
            to="/admin/torznab"
            search={{ tab: 'requests', user: user.username }}
            className="row-link"
            preload={false}
          >
            {user.username}
          </Link>{' '}
          {blocked && (
            <span className="tag" data-tone="bad">
              Blocked
            </span>
          )}
        </>
      ),
    },
    count('requests', 'Requests'),
    count('downloads', 'Downloads'),
    count('errors', 'Errors'),
    count('violations', 'Violations'),
    {
      head: 'Last request',
      align: 'end',
      cell: ({ lastRequest }) => (lastRequest === null ? 'none' : <Ago time={lastRequest} now={now} />),
    },
    { head: 'Actions', isEvident: true, cell: (usage) => <UserActions usage={usage} /> },
  ]
}

/** Actions on a user; all except unblocking ask for confirmation. */
function UserActions({ usage: { user, blocked, requests } }: { usage: TorznabUser }) {
  const queries = useQueryClient()
  const [asking, setAsking] = useState<'block' | 'reset'>()
  const close = (): void => setAsking(undefined)
  const change = useMutation<unknown, ApiError, boolean>({
    mutationFn: (apiBlocked) =>
      read(api.PATCH('/api/admin/users/{id}', { params: { path: { id: user.id } }, body: { apiBlocked } })),
    onSuccess: async (_changed, apiBlocked) => {
      toast(`${user.username} ${apiBlocked ? 'blocked' : 'unblocked'}.`)
      close()
      await queries.invalidateQueries({ queryKey: TORZNAB_KEY })
    },
    onError: toastProblem,
  })
  const block = blocked ? 'Unblock' : 'Block'
  return (
    <span className="row-actions">
      <Button
        className="small"
        isBusy={blocked && change.isPending}
        onClick={() => (blocked ? change.mutate(false) : setAsking('block'))}
        aria-label={`${block} ${user.username}`}
      >
        {block}
      </Button>
      <Button className="small" onClick={() => setAsking('reset')} aria-label={`Reset passkey of ${user.username}`}>
        Reset passkey
      </Button>
      {asking === 'block' && (
        <Confirm
          title={`Block ${user.username} from the API?`}
          action="Block"
          isBusy={change.isPending}
          onConfirm={() => change.mutate(true)}
          onCancel={close}
        >
          <p>
            Their tools, which have sent {formatNumberOf(requests, 'request')}, are refused with error 102 until you
            unblock them. They can still sign in, and their clients keep seeding.
          </p>
        </Confirm>
      )}
      {asking === 'reset' && <ResetPasskey user={user} onClose={close} />}
    </span>
  )
}
