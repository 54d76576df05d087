import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Empty, FormDialog, Pending, toast } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { Ago } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { useState } from 'react'
import { api, type SecondFactor } from '../api/client.ts'
import { FACTOR_IS_MISSING } from '../api/queries.ts'
import { supportsSecurityKeys } from '../api/security-keys.ts'
import { OwnPassword } from '../standing/own-password.tsx'
import { AddApp } from './add-app.tsx'
import { AddSecurityKey } from './add-security-key.tsx'
import { RecoveryCodes } from './recovery-codes.tsx'

const factors = queryOptions({
  queryKey: ['me', 'factors'],
  queryFn: ({ signal }) => read(api.GET('/api/user/factors', { signal })),
})

type Asking = 'app' | 'security-key' | 'codes' | SecondFactor

export function SecondFactors() {
  const queries = useQueryClient()
  const { data, error, refetch, dataUpdatedAt } = useQuery(factors)
  const [asking, setAsking] = useState<Asking>()
  const close = (): void => setAsking(undefined)
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={3} label="Loading second factors…" />
  // All reads: those that were refused because of the missing factor succeed now.
  const onChanged = (): void => {
    queries.removeQueries({ queryKey: FACTOR_IS_MISSING })
    void queries.invalidateQueries()
  }
  const { items, recoveryCodes, isRequired } = data
  const canAddSecurityKey = supportsSecurityKeys()
  return (
    <>
      {isRequired && items.length === 0 && (
        <p className="notice" role="alert">
          Staff of this site need a second factor. Add one to continue.
        </p>
      )}
      <p className="prose">
        With a second factor, your password alone is not enough to sign in. Adding or removing one ends all other
        sessions.
      </p>
      {items.length === 0 ? (
        <Empty title="No second factor.">
          <p>
            {canAddSecurityKey ? 'Add a security key or an authenticator app.' : 'Add an authenticator app.'} You
            receive recovery codes in case you lose it.
          </p>
        </Empty>
      ) : (
        <Table
          caption="Second factors"
          columns={columnsAt(dataUpdatedAt, setAsking)}
          rows={items}
          rowKey={({ id }) => id}
        />
      )}
      <div className="form-actions">
        {canAddSecurityKey && (
          <Button kind={items.length === 0 ? 'main' : 'plain'} onClick={() => setAsking('security-key')}>
            Add security key
          </Button>
        )}
        {!items.some(({ kind }) => kind === 'totp') && (
          <Button kind={items.length > 0 || canAddSecurityKey ? 'plain' : 'main'} onClick={() => setAsking('app')}>
            Add authenticator app
          </Button>
        )}
        {items.length > 0 && <Button onClick={() => setAsking('codes')}>Replace recovery codes</Button>}
      </div>
      {items.length > 0 && (
        <p className={recoveryCodes < 3 ? 'notice' : 'muted'}>
          {recoveryCodes === 1 ? '1 recovery code left.' : `${recoveryCodes} recovery codes left.`}
        </p>
      )}
      {asking === 'app' && <AddApp onChanged={onChanged} onClose={close} />}
      {asking === 'security-key' && <AddSecurityKey onChanged={onChanged} onClose={close} />}
      {asking === 'codes' && <ReplaceCodes onChanged={onChanged} onClose={close} />}
      {typeof asking === 'object' && (
        <RemoveFactor factor={asking} isLast={items.length === 1} onChanged={onChanged} onClose={close} />
      )}
    </>
  )
}

function columnsAt(now: number, onRemove: (factor: SecondFactor) => void): readonly Column<SecondFactor>[] {
  return [
    { head: 'Name', isMain: true, cell: ({ name }) => <span dir="auto">{name}</span> },
    { head: 'Kind', isMinor: true, cell: ({ kind }) => (kind === 'totp' ? 'App' : 'Security key') },
    { head: 'Added', cell: ({ created }) => <Ago time={created} now={now} /> },
    { head: 'Last used', cell: ({ lastUsed }) => (lastUsed === null ? 'Never' : <Ago time={lastUsed} now={now} />) },
    {
      head: 'Action',
      isEvident: true,
      cell: (factor) => (
        <Button className="small" onClick={() => onRemove(factor)} aria-label={`Remove ${factor.name}`}>
          Remove
        </Button>
      ),
    },
  ]
}

type Changing = { onChanged: () => void; onClose: () => void }

function RemoveFactor({ factor, isLast, onChanged, onClose }: Changing & { factor: SecondFactor; isLast: boolean }) {
  const remove = useMutation<unknown, ApiError, string>({
    mutationFn: (password) =>
      read(api.POST('/api/user/factors/{id}/remove', { params: { path: { id: factor.id } }, body: { password } })),
    onSuccess: () => {
      toast('Second factor removed.')
      onChanged()
      onClose()
    },
  })
  return (
    <FormDialog
      title={`Remove ${factor.name}?`}
      action="Remove second factor"
      kind="danger"
      isDraft={false}
      fields={[]}
      error={remove.error}
      isBusy={remove.isPending}
      onSubmit={({ password = '' }) => remove.mutate(password)}
      onClose={onClose}
      intro={
        <p>
          All other sessions end.
          {isLast && ' Your password alone will be enough to sign in, and your recovery codes stop working.'}
        </p>
      }
    >
      <OwnPassword />
    </FormDialog>
  )
}

function ReplaceCodes({ onChanged, onClose }: Changing) {
  const replace = useMutation<{ recoveryCodes: string[] }, ApiError, string>({
    mutationFn: (password) => read(api.POST('/api/user/factors/recovery-codes', { body: { password } })),
    onSuccess: onChanged,
    // Keeps the codes out of the cache.
    gcTime: 0,
  })
  if (replace.data !== undefined) return <RecoveryCodes codes={replace.data.recoveryCodes} onClose={onClose} />
  return (
    <FormDialog
      title="Replace your recovery codes?"
      action="Replace recovery codes"
      isDraft={false}
      fields={[]}
      error={replace.error}
      isBusy={replace.isPending}
      onSubmit={({ password = '' }) => replace.mutate(password)}
      onClose={onClose}
      intro={<p>Your current codes stop working.</p>}
    >
      <OwnPassword />
    </FormDialog>
  )
}
