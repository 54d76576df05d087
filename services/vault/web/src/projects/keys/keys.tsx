import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Confirm, Empty, Pending, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { Ago, formatAge, formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { useState } from 'react'
import { api, read } from '../../api/client.ts'
import { useAdministrator } from '../../api/session.ts'
import type { ProjectKey } from '../../api/types.ts'
import { actionsColumn } from '../../frame/actions-column.tsx'
import { Countdown, Fingerprint, ScopeText } from '../../keys/cells.tsx'
import { AddKey } from './add-key.tsx'
import { keysOf } from './queries.ts'
import { RotateKey } from './rotate-key.tsx'

const route = getRouteApi('/projects/$name')

type Asked = { readonly what: 'add' } | { readonly what: 'rotate' | 'revoke'; readonly key: ProjectKey }

/** The keys of a project; `ended` includes those that expired or were revoked in the last 30 days. */
export function Keys({ project, ended }: { project: string; ended: boolean }) {
  const navigate = route.useNavigate()
  const { mayWrite } = useAdministrator(project)
  const { data, error, refetch, dataUpdatedAt } = useQuery(keysOf(project, ended))
  const [asked, setAsked] = useState<Asked>()
  const close = (): void => setAsked(undefined)
  if (data === undefined) return <Pending error={error} onRetry={() => void refetch()} rows={2} label="Loading keys…" />
  const active = data.filter(isActive)
  const replaced = active.filter(({ state }) => state === 'replaced').length
  return (
    <>
      <div className="manage-head">
        <div className="manage-filters">
          <label className="switch">
            <input
              type="checkbox"
              checked={ended}
              onChange={() =>
                void navigate({ search: { ended: ended ? undefined : 'yes' }, resetScroll: false, replace: true })
              }
            />
            Show expired and revoked keys
          </label>
          {mayWrite && (
            <Button kind="main" onClick={() => setAsked({ what: 'add' })}>
              Add key
            </Button>
          )}
        </div>
        <p className="muted" role="status">
          {formatNumberOf(active.length - replaced, 'active key')}
          {replaced > 0 && `, ${replaced} replaced`}
        </p>
      </div>
      {data.length === 0 ? (
        <Empty title="No active keys.">
          <p>No application can read or write the secrets of this project until you add a key.</p>
        </Empty>
      ) : (
        <Table
          caption="Keys"
          columns={columnsAt(dataUpdatedAt, mayWrite ? setAsked : undefined)}
          rows={data}
          rowKey={({ fingerprint }) => fingerprint}
        />
      )}
      {asked?.what === 'add' && <AddKey project={project} onClose={close} />}
      {asked?.what === 'rotate' && <RotateKey project={project} replaced={asked.key} onClose={close} />}
      {asked?.what === 'revoke' && <RevokeKey project={project} revoked={asked.key} active={active} onClose={close} />}
    </>
  )
}

const isActive = ({ state }: ProjectKey): boolean => state === 'active' || state === 'replaced'

function columnsAt(now: number, onAsk: ((asked: Asked) => void) | undefined): readonly Column<ProjectKey>[] {
  const ask = (what: 'rotate' | 'revoke') => onAsk && ((key: ProjectKey) => onAsk({ what, key }))
  return [
    {
      head: 'Name',
      isMain: true,
      cell: ({ name, state, subject }) => (
        <>
          <span className="long-name">{name}</span>{' '}
          {subject !== undefined && (
            <span className="tag" title={`Exchanged for an ID token of ${subject}`}>
              ID token
            </span>
          )}
          {state !== 'active' && (
            <span className="tag" {...(state === 'replaced' && { 'data-tone': 'warn' })}>
              {state}
            </span>
          )}
        </>
      ),
    },
    { head: 'Fingerprint', cell: ({ fingerprint }) => <Fingerprint value={fingerprint} /> },
    { head: 'Access', isEvident: true, cell: ({ scope }) => <ScopeText scope={scope} /> },
    { head: 'Added', align: 'end', cell: ({ since }) => <Ago time={since} now={now} /> },
    {
      head: 'Expires',
      align: 'end',
      isEvident: true,
      cell: (key) => <End ended={!isActive(key)} until={key.until} now={now} />,
    },
    { head: 'Last used', align: 'end', cell: ({ lastUsedAt }) => <Ago time={lastUsedAt} now={now} /> },
    ...actionsColumn<ProjectKey>([
      {
        verb: 'Rotate',
        labelOf: ({ name }) => `Rotate ${name}`,
        isFor: ({ state, subject }) => state === 'active' && subject === undefined,
        onAct: ask('rotate'),
      },
      {
        verb: 'Revoke',
        labelOf: ({ name, fingerprint }) => `Revoke ${name}, ${fingerprint}`,
        isDangerous: true,
        isFor: isActive,
        onAct: ask('revoke'),
      },
    ]),
  ]
}

function End({ ended, until, now }: { ended: boolean; until: string | null; now: number }) {
  if (until === null) return <span className="muted">no expiry</span>
  if (!ended) return <Countdown until={until} />
  return (
    <span className="muted">
      ended <Ago time={until} now={now} />
    </span>
  )
}

function RevokeKey(props: {
  project: string
  revoked: ProjectKey
  active: readonly ProjectKey[]
  onClose: () => void
}) {
  const { project, revoked, active, onClose } = props
  const { name, fingerprint, lastUsedAt } = revoked
  const [openedAt] = useState(() => Date.now())
  const queries = useQueryClient()
  const revoke = useMutation({
    mutationFn: () =>
      read(
        api.DELETE('/v1/admin/projects/{id}/keys/{fingerprint}', { params: { path: { id: project, fingerprint } } }),
      ),
    onSuccess: async () => {
      toast('Key revoked.')
      onClose()
      await queries.invalidateQueries()
    },
    onError: toastProblem,
  })
  const namesakes = active.filter((key) => key.name === name).length - 1
  return (
    <Confirm
      title={`Revoke the key ${name}?`}
      action="Revoke key"
      isBusy={revoke.isPending}
      onConfirm={() => revoke.mutate()}
      onCancel={onClose}
    >
      <p>
        Key <code>{fingerprint}</code> of project {project} stops working immediately. This cannot be undone.{' '}
        {lastUsedAt === null
          ? 'The key has never been used.'
          : `The key was last used ${usedText(lastUsedAt, openedAt)}.`}
        {active.length > namesakes + 1 && ' Keys with other names keep working.'}
      </p>
      {namesakes > 0 && (
        <p className="notice">
          This does not revoke {formatNumberOf(namesakes, 'other key')} named {name}. If a person has left or a key has
          leaked, revoke all of them.
        </p>
      )}
      {active.length === 1 && (
        <p className="notice">
          This is the only active key: no application can read or write the secrets of {project} until you add one.
        </p>
      )}
    </Confirm>
  )
}

function usedText(time: string, now: number): string {
  const age = formatAge(time, now)
  return age === 'now' ? 'less than a minute ago' : `${age} ago`
}
