import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { read } from '@vault-and-tracker/web-kit/api'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { formatExactTime, formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { api, type Invite, type ManagedUser } from '../../api/client.ts'
import { inviteColumns } from '../../invites/columns.tsx'
import { userInvites } from './queries.ts'

export function InvitesTab({ user }: { user: ManagedUser }) {
  const { data, error, refetch, dataUpdatedAt } = useQuery(userInvites(user.id))
  const left =
    user.role === 'member'
      ? `${formatNumberOf(user.invitesLeft, 'invite')} left. Change the number on the Account tab.`
      : 'Staff can create any number of invites.'
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={3} label="Loading invites…" />
  if (data.length === 0)
    return (
      <Empty title={`${user.username} has not created any invites.`}>
        <p>{left}</p>
      </Empty>
    )
  return (
    <>
      <p className="muted">{left}</p>
      <Table caption="Invites" columns={columnsAt(dataUpdatedAt, user)} rows={data} rowKey={({ id }) => id} />
    </>
  )
}

function columnsAt(now: number, user: ManagedUser): readonly Column<Invite>[] {
  return [
    {
      head: 'Used by',
      isMain: true,
      cell: ({ usedBy, expires }) =>
        usedBy === null ? (
          Date.parse(expires) < now ? (
            'Expired'
          ) : (
            'Unused'
          )
        ) : (
          <Link to="/admin/users" search={{ search: usedBy }} className="row-link" preload={false}>
            {usedBy}
          </Link>
        ),
    },
    { head: 'Used', align: 'end', cell: ({ used }) => (used === null ? '' : formatExactTime(used)) },
    ...inviteColumns({
      owner: user.username,
      send: (id) => read(api.DELETE('/api/admin/invites/{id}', { params: { path: { id } } })),
      outdated: [
        ['admin', 'log'],
        ['admin', 'users'],
      ],
    }),
  ]
}
