import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Button, Select } from '@vault-and-tracker/web-kit/form'
import { Ago, formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { useState } from 'react'
import { useAdministrator } from '../../api/session.ts'
import type { SecretMetadata } from '../../api/types.ts'
import { actionsColumn } from '../../frame/actions-column.tsx'
import { ExpiryText } from '../../secrets/details.tsx'
import { EditDetails } from '../../secrets/edit-details.tsx'
import { StoreSecret } from '../../secrets/store-secret.tsx'
import { effectiveSecrets } from '../environments/inheritance.ts'
import { environmentsOf } from '../environments/queries.ts'
import { DeleteSecret } from './delete-secret.tsx'
import { secretsOf } from './queries.ts'
import { Versions } from './versions.tsx'

const route = getRouteApi('/projects/$name')

type Asked =
  | { readonly what: 'add' }
  | { readonly what: 'replace' | 'details' | 'versions' | 'delete'; readonly secret: SecretMetadata }

/** The secrets of a project, without their values. */
export function Secrets({ project, env }: { project: string; env: string | undefined }) {
  const navigate = route.useNavigate()
  const { mayEditSecrets } = useAdministrator(project)
  const { data, error, refetch, dataUpdatedAt } = useQuery(secretsOf(project))
  const { data: environments = [] } = useQuery(environmentsOf(project))
  const [asked, setAsked] = useState<Asked>()
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={6} label="Loading secrets…" />
  const envs = [...new Set([...data, ...environments].map((each) => each.env))].toSorted()
  const shown = env === undefined ? data : effectiveSecrets(env, data, environments)
  const close = (): void => setAsked(undefined)
  const add = mayEditSecrets && (
    <Button kind="main" onClick={() => setAsked({ what: 'add' })}>
      Add secret
    </Button>
  )
  const dialog = asked && <AskedDialog asked={asked} project={project} known={data} env={env} onClose={close} />
  if (data.length === 0)
    return (
      <>
        <Empty title="No secrets yet.">
          <p>
            Add one here, or with the key of this project: <code>vault set NAME</code>. The console never shows values.
          </p>
          {add}
        </Empty>
        {dialog}
      </>
    )
  return (
    <>
      <div className="manage-head">
        <div className="manage-filters">
          <Select
            label="Environment"
            all="All environments"
            value={env}
            choices={envs.map((each) => [each, each] as const)}
            onChange={(chosen) => void navigate({ search: { tab: 'secrets', env: chosen }, resetScroll: false })}
          />
          {add}
        </div>
        <p className="muted" role="status">
          {formatNumberOf(shown.length, 'secret')}, without values
        </p>
      </div>
      <Table
        caption="Secrets"
        columns={columnsAt({ now: dataUpdatedAt, env, shown }, mayEditSecrets, setAsked)}
        rows={shown}
        rowKey={({ id }) => id}
      />
      {dialog}
    </>
  )
}

function AskedDialog(props: {
  asked: Asked
  project: string
  known: readonly SecretMetadata[]
  env: string | undefined
  onClose: () => void
}) {
  const { asked, project, known, env, onClose } = props
  if (asked.what === 'add') return <StoreSecret project={project} known={known} env={env} onClose={onClose} />
  const { secret } = asked
  if (asked.what === 'replace') return <StoreSecret project={project} replaced={secret} onClose={onClose} />
  if (asked.what === 'details') return <EditDetails project={project} secret={secret} onClose={onClose} />
  if (asked.what === 'versions') return <Versions project={project} secret={secret} onClose={onClose} />
  return <DeleteSecret project={project} secret={secret} onClose={onClose} />
}

function columnsAt(
  { now, env: chosen, shown }: { now: number; env: string | undefined; shown: readonly SecretMetadata[] },
  mayEdit: boolean,
  onAsk: (asked: Asked) => void,
): readonly Column<SecretMetadata>[] {
  const placeOf = ({ key, env }: SecretMetadata): string => `${key} in ${env}`
  const ask = (what: Exclude<Asked['what'], 'add'>) => (secret: SecretMetadata) => onAsk({ secret, what })
  const edit = (what: Exclude<Asked['what'], 'add'>) => (mayEdit ? ask(what) : undefined)
  const optional = (isUsed: boolean, column: Column<SecretMetadata>) => (isUsed ? [column] : [])
  return [
    {
      head: 'Name',
      isMain: true,
      cell: ({ key, note, references }) => (
        <>
          <code>{key}</code> {references === true && <span className="tag">references</span>}
          {note !== undefined && (
            <div className="muted note" dir="auto">
              {note}
            </div>
          )}
        </>
      ),
    },
    {
      head: 'Environment',
      isEvident: true,
      cell: ({ env }) => (
        <>
          {env} {chosen !== undefined && env !== chosen && <span className="tag">inherited</span>}
        </>
      ),
    },
    ...optional(
      shown.some(({ owner }) => owner !== undefined),
      { head: 'Owner', cell: ({ owner }) => owner },
    ),
    ...optional(
      shown.some(({ expiresAt }) => expiresAt !== undefined),
      {
        head: 'Expires',
        align: 'end',
        cell: ({ expiresAt }) => expiresAt !== undefined && <ExpiryText expiresAt={expiresAt} now={now} />,
      },
    ),
    { head: 'Updated', align: 'end', cell: ({ updatedAt }) => <Ago time={updatedAt} now={now} /> },
    ...actionsColumn<SecretMetadata>([
      { verb: 'Replace', labelOf: (secret) => `Replace ${placeOf(secret)}`, onAct: edit('replace') },
      { verb: 'Details', labelOf: (secret) => `Details of ${placeOf(secret)}`, onAct: edit('details') },
      { verb: 'Versions', labelOf: (secret) => `Versions of ${placeOf(secret)}`, onAct: ask('versions') },
      {
        verb: 'Delete',
        labelOf: (secret) => `Delete ${placeOf(secret)}`,
        isDangerous: true,
        onAct: edit('delete'),
      },
    ]),
  ]
}
