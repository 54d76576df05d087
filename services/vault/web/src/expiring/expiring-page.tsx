import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Select } from '@vault-and-tracker/web-kit/form'
import { formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { PageHead } from '@vault-and-tracker/web-kit/frame'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { useState } from 'react'
import { useAdministrator } from '../api/session.ts'
import type { ExpiringSecret } from '../api/types.ts'
import { actionsColumn } from '../frame/actions-column.tsx'
import { ExpiryText } from '../secrets/details.tsx'
import { EditDetails } from '../secrets/edit-details.tsx'
import { StoreSecret } from '../secrets/store-secret.tsx'
import { DAYS, expiringWithin } from './queries.ts'

const route = getRouteApi('/expiring')

type Asked = { readonly secret: ExpiringSecret; readonly what: 'replace' | 'details' }

/** The secrets of all projects that are overdue or expire soon. */
export function ExpiringPage() {
  const { days = '30' } = route.useSearch()
  const navigate = route.useNavigate()
  const { mayEditSecrets, mayEditSecretsOf } = useAdministrator()
  const { data, error, refetch, dataUpdatedAt } = useQuery(expiringWithin(days))
  const [asked, setAsked] = useState<Asked>()
  const close = (): void => setAsked(undefined)
  return (
    <>
      <PageHead title="Expiring secrets" count={data ? formatNumberOf(data.items.length, 'secret') : ''} />
      <div className="manage-filters">
        <Select
          label="Expires"
          value={days}
          choices={DAYS.toSorted((a, b) => Number(a) - Number(b)).map((each) => [each, `Within ${each} days`] as const)}
          onChange={(chosen) => void navigate({ search: { days: chosen === '30' ? undefined : chosen } })}
        />
      </div>
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={8} label="Loading expiring secrets…" />
      ) : data.items.length === 0 ? (
        <Empty title="No secrets expire soon.">
          <p>Give a secret an expiry to be reminded in time. Expired secrets stay available.</p>
        </Empty>
      ) : (
        <>
          <Table
            caption="Expiring secrets"
            columns={columnsAt(dataUpdatedAt, mayEditSecrets ? setAsked : undefined, mayEditSecretsOf)}
            rows={data.items}
            rowKey={({ id }) => id}
          />
          {!data.complete && <p className="muted">Only the earliest 1,000 are listed.</p>}
        </>
      )}
      {asked?.what === 'replace' && (
        <StoreSecret project={asked.secret.project} replaced={asked.secret} onClose={close} />
      )}
      {asked?.what === 'details' && (
        <EditDetails project={asked.secret.project} secret={asked.secret} onClose={close} />
      )}
    </>
  )
}

function columnsAt(
  now: number,
  onAsk: ((asked: Asked) => void) | undefined,
  mayEditSecretsOf: (project: string) => boolean,
): readonly Column<ExpiringSecret>[] {
  const isFor = ({ project }: ExpiringSecret): boolean => mayEditSecretsOf(project)
  const ask = (what: Asked['what']) => onAsk && ((secret: ExpiringSecret) => onAsk({ secret, what }))
  const placeOf = ({ key, env, project }: ExpiringSecret): string => `${key} in ${env} of ${project}`
  return [
    {
      head: 'Name',
      isMain: true,
      cell: ({ key, note }) => (
        <>
          <code>{key}</code>
          {note !== undefined && (
            <div className="muted note" dir="auto">
              {note}
            </div>
          )}
        </>
      ),
    },
    {
      head: 'Project',
      isEvident: true,
      cell: ({ project, env }) => (
        <Link to="/projects/$name" params={{ name: project }} search={{ tab: 'secrets', env }} className="quiet-link">
          {project}, {env}
        </Link>
      ),
    },
    { head: 'Owner', cell: ({ owner }) => owner },
    {
      head: 'Expires',
      align: 'end',
      isEvident: true,
      cell: ({ expiresAt }) => <ExpiryText expiresAt={expiresAt} now={now} />,
    },
    ...actionsColumn<ExpiringSecret>([
      { verb: 'Replace', labelOf: (secret) => `Replace ${placeOf(secret)}`, isFor, onAct: ask('replace') },
      { verb: 'Details', labelOf: (secret) => `Details of ${placeOf(secret)}`, isFor, onAct: ask('details') },
    ]),
  ]
}
