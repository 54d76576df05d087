import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Empty, Pending, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button, Copyable } from '@vault-and-tracker/web-kit/form'
import { formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { api, type Invite, type OwnUser } from '../api/client.ts'
import { ownUser } from '../api/queries.ts'
import { inviteColumns } from '../invites/columns.tsx'

const invites = queryOptions({
  queryKey: ['me', 'invites'],
  queryFn: async ({ signal }) =>
    (await read(api.GET('/api/user/invites', { params: { query: { limit: 100 } }, signal }))).items,
})

const STATE: Column<Invite> = {
  head: 'State',
  isMain: true,
  cell: ({ usedBy, used, expires }) => {
    if (used !== null) return usedBy === null ? 'Used by a deleted account' : `Used by ${usedBy}`
    return Date.parse(expires) < Date.now() ? 'Expired' : 'Unused'
  },
}

export function Invites({ user }: { user: OwnUser }) {
  const queries = useQueryClient()
  const { data, error, refetch } = useQuery(invites)
  const create = useMutation<Invite & { code: string }, ApiError>({
    mutationFn: () => read(api.POST('/api/user/invites')),
    onSuccess: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: invites.queryKey }),
        queries.invalidateQueries({ queryKey: ownUser.queryKey }),
      ]),
    onError: toastProblem,
  })
  const isUnlimited = user.role !== 'member'
  const columns = [
    STATE,
    ...inviteColumns({
      send: (id) => read(api.DELETE('/api/invites/{id}', { params: { path: { id } } })),
      outdated: [ownUser.queryKey],
      // The link of a revoked invite no longer works.
      onDone: (id) => id === create.data?.id && create.reset(),
    }),
  ]
  return (
    <>
      <div className="form-actions">
        {(isUnlimited || user.invitesLeft > 0) && (
          <Button kind="main" isBusy={create.isPending} onClick={() => create.mutate()}>
            Create invite
          </Button>
        )}
        <p className="muted">{allowanceText(isUnlimited, user.invitesLeft)}</p>
      </div>
      {create.data && <NewInvite code={create.data.code} />}
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={3} label="Loading invites…" />
      ) : data.length === 0 ? (
        <Empty title="No invites yet." />
      ) : (
        <Table caption="Invites" columns={columns} rows={data} rowKey={({ id }) => id} />
      )}
    </>
  )
}

function allowanceText(isUnlimited: boolean, left: number): string {
  if (!isUnlimited && left === 0) return 'You have no invites left. Ask staff for more.'
  return `${isUnlimited ? 'You can create any number of invites.' : `${formatNumberOf(left, 'invite')} left.`} Each creates one account within 7 days.`
}

function NewInvite({ code }: { code: string }) {
  const url = `${location.origin}/register?invite=${encodeURIComponent(code)}`
  return (
    <div className="notice" role="status">
      <p>Send this link to the person you are inviting. It is shown only once.</p>
      <p>
        <Copyable text={url} what="invite link" />
      </p>
    </div>
  )
}
