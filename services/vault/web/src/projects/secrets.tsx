import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Select } from '@vault-and-tracker/web-kit/form'
import { Ago, formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { useState } from 'react'
import { useAdministrator } from '../api/session.ts'
import type { SecretMetadata } from '../api/types.ts'
import { actionsColumn } from '../frame/actions-column.tsx'
import { DeleteSecret } from './delete-secret.tsx'
import { secretsOf } from './queries.ts'
import { Versions } from './versions.tsx'

const route = getRouteApi('/projects/$name')

type Asked = { readonly secret: SecretMetadata; readonly what: 'versions' | 'delete' }

/** The secrets of a project, without their values. */
export function Secrets({ project, env }: { project: string; env: string | undefined }) {
  const navigate = route.useNavigate()
  const { mayEditSecrets } = useAdministrator()
  const { data, error, refetch, dataUpdatedAt } = useQuery(secretsOf(project))
  const [asked, setAsked] = useState<Asked>()
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={6} label="Loading secrets…" />
  if (data.length === 0)
    return (
      <Empty title="No secrets yet.">
        <p>
          Store one with the key of this project: <code>vault set NAME</code>. The console never shows values.
        </p>
      </Empty>
    )
  const envs = [...new Set(data.map((secret) => secret.env))].toSorted()
  const shown = data.filter((secret) => env === undefined || secret.env === env)
  const close = (): void => setAsked(undefined)
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
        </div>
        <p className="muted" role="status">
          {formatNumberOf(shown.length, 'secret')}, without values
        </p>
      </div>
      <Table
        caption="Secrets"
        columns={columnsAt(dataUpdatedAt, mayEditSecrets, setAsked)}
        rows={shown}
        rowKey={({ id }) => id}
      />
      {asked?.what === 'versions' && <Versions project={project} secret={asked.secret} onClose={close} />}
      {asked?.what === 'delete' && <DeleteSecret project={project} secret={asked.secret} onClose={close} />}
    </>
  )
}

function columnsAt(
  now: number,
  mayEditSecrets: boolean,
  onAsk: (asked: Asked) => void,
): readonly Column<SecretMetadata>[] {
  const placeOf = ({ key, env }: SecretMetadata): string => `${key} in ${env}`
  const ask = (what: Asked['what']) => (secret: SecretMetadata) => onAsk({ secret, what })
  return [
    { key: 'key', head: 'Name', isMain: true, cell: ({ key }) => <code>{key}</code> },
    { key: 'env', head: 'Environment', isEvident: true, cell: ({ env }) => env },
    {
      key: 'updated',
      head: 'Updated',
      align: 'end',
      cell: ({ updatedAt }) => <Ago time={updatedAt} now={now} />,
    },
    ...actionsColumn<SecretMetadata>([
      { verb: 'Versions', labelOf: (secret) => `Versions of ${placeOf(secret)}`, onAct: ask('versions') },
      {
        verb: 'Delete',
        labelOf: (secret) => `Delete ${placeOf(secret)}`,
        isDangerous: true,
        onAct: mayEditSecrets ? ask('delete') : undefined,
      },
    ]),
  ]
}
