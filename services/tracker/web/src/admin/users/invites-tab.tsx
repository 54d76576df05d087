import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { read } from '@vault-and-tracker/web-kit/api'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { formatExactTime } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { api, type Invite, type ManagedUser } from '../../api/client.ts'
import { inviteColumns } from '../../invites/columns.tsx'
import { userInvites } from './queries.ts'

/** Whom a user invited. */
export function InvitesTab({ user }: { user: ManagedUser }) {
  const { data, error, refetch, dataUpdatedAt } = useQuery(userInvites(user.id))
  const left =
    user.role === 'member'
      ? `${user.invitesLeft} left. How many is set under Account.`
      : 'Staff make any number of invites.'
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={3} label="The invites are loading." />
  if (data.length === 0)
    return (
      <Empty title={`${user.username} has made no invites.`}>
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
      key: 'state',
      head: 'Used by',
      isMain: true,
      cell: ({ usedBy, expires }) =>
        usedBy === null ? (
          Date.parse(expires) < now ? (
            'Expired unused'
          ) : (
            'Not used yet'
          )
        ) : (
          <Link to="/admin/users" search={{ search: usedBy }} className="row-link">
            {usedBy}
          </Link>
        ),
    },
    {
      key: 'used',
      head: 'Used',
      align: 'end',
      cell: ({ used }) => (used === null ? '' : formatExactTime(used)),
    },
    ...inviteColumns({
      maker: user.username,
      send: (id) => read(api.DELETE('/api/admin/invites/{id}', { params: { path: { id } } })),
      outdated: [
        ['admin', 'log'],
        ['admin', 'users'],
      ],
    }),
  ]
}
