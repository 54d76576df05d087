import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Empty, Pending, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button, CopyButton } from '@vault-and-tracker/web-kit/form'
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
  key: 'state',
  head: 'State',
  isMain: true,
  cell: ({ usedBy, used, expires }) => stateOf({ usedBy, used, expires }),
}

function stateOf({ usedBy, used, expires }: Pick<Invite, 'usedBy' | 'used' | 'expires'>): string {
  if (used !== null) return usedBy === null ? 'Used by an account that was deleted' : `Used by ${usedBy}`
  return Date.parse(expires) < Date.now() ? 'Expired unused' : 'Not used yet'
}

/** Invites one made, and a new one. */
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
      // The address of an invite that was taken back must not be sent any more.
      onDone: (id) => id === create.data?.id && create.reset(),
    }),
  ]
  return (
    <>
      <div className="form-actions">
        {(isUnlimited || user.invitesLeft > 0) && (
          <Button kind="main" isBusy={create.isPending} onClick={() => create.mutate()}>
            Make an invite
          </Button>
        )}
        <p className="muted">{allowanceText(isUnlimited, user.invitesLeft)}</p>
      </div>
      {create.data && <NewInvite code={create.data.code} />}
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={3} label="Invites are loading." />
      ) : data.length === 0 ? (
        <Empty title="You have made no invites." />
      ) : (
        <Table caption="Invites" columns={columns} rows={data} rowKey={({ id }) => id} />
      )}
    </>
  )
}

function allowanceText(isUnlimited: boolean, left: number): string {
  if (!isUnlimited && left === 0) return 'You have no invites left. The staff grants them.'
  const allowance = isUnlimited ? 'You can invite without limit.' : `${left} left.`
  return `${allowance} Each is valid for seven days and for one account.`
}

function NewInvite({ code }: { code: string }) {
  const url = `${location.origin}/register?invite=${encodeURIComponent(code)}`
  return (
    <div className="notice" role="status">
      <p>Send this address to the person you invite. It is shown only now.</p>
      <p className="secret">
        <code>{url}</code> <CopyButton text={url} what="invite" />
      </p>
    </div>
  )
}
