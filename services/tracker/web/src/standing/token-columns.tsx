import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { Confirm, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { Ago, formatDate } from '@vault-and-tracker/web-kit/format'
import type { Column } from '@vault-and-tracker/web-kit/table'
import { useState } from 'react'
import type { ApiToken } from '../api/client.ts'

/** How tokens of a list are revoked. `outdated` are the queries to repeat. */
type Revocation = { send: (id: string) => Promise<unknown>; outdated: readonly QueryKey[]; consequence: string }

/** Columns for API tokens, with the button that revokes one. */
export function tokenColumns(now: number, revocation: Revocation): readonly Column<ApiToken>[] {
  return [
    {
      head: 'Name',
      isMain: true,
      cell: ({ name, expires }) => (
        <>
          <bdi>{name}</bdi>{' '}
          {expires !== null && Date.parse(expires) <= now && (
            <span className="tag" data-tone="bad">
              Expired
            </span>
          )}
        </>
      ),
    },
    { head: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
    {
      head: 'Last used',
      cell: ({ lastUsed, lastAddress }) =>
        lastUsed === null ? (
          'Never'
        ) : (
          <>
            <Ago time={lastUsed} now={now} /> from {lastAddress}
          </>
        ),
    },
    {
      head: 'Addresses',
      isMinor: true,
      cell: ({ addresses }) => (addresses.length === 0 ? 'Any' : addresses.join(', ')),
    },
    { head: 'Created', isMinor: true, cell: ({ created }) => <Ago time={created} now={now} /> },
    { head: 'Expires', cell: ({ expires }) => (expires === null ? 'Never' : formatDate(expires)) },
    { head: 'Action', isEvident: true, cell: (token) => <RevokeToken token={token} {...revocation} /> },
  ]
}

function RevokeToken({ token: { id, name }, send, outdated, consequence }: Revocation & { token: ApiToken }) {
  const queries = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const revoke = useMutation<unknown, ApiError>({
    mutationFn: () => send(id),
    onSuccess: () => {
      toast('API token revoked.')
      setAsking(false)
    },
    onError: toastProblem,
    onSettled: () => Promise.all(outdated.map((queryKey) => queries.invalidateQueries({ queryKey }))),
  })
  return (
    <>
      <Button className="small" onClick={() => setAsking(true)} aria-label={`Revoke ${name}`}>
        Revoke
      </Button>
      {isAsking && (
        <Confirm
          title={`Revoke ${name}?`}
          action="Revoke token"
          isBusy={revoke.isPending}
          onConfirm={() => revoke.mutate()}
          onCancel={() => setAsking(false)}
        >
          <p>{consequence}</p>
        </Confirm>
      )}
    </>
  )
}
