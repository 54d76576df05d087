import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { Empty, FormDialog, Pending, toast } from '@vault-and-tracker/web-kit/feedback'
import { SelectField, type Values } from '@vault-and-tracker/web-kit/form'
import { formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { useState } from 'react'
import { api, read } from '../../api/client.ts'
import { useAdministrator } from '../../api/session.ts'
import type { Environment } from '../../api/types.ts'
import { actionsColumn } from '../../frame/actions-column.tsx'
import { environmentsOf } from './queries.ts'

/** The environments of a project, and which inherits from which. */
export function Environments({ project }: { project: string }) {
  const { mayWrite } = useAdministrator()
  const { data, error, refetch } = useQuery(environmentsOf(project))
  const [asked, setAsked] = useState<Environment>()
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={3} label="Loading environments…" />
  if (data.length === 0)
    return (
      <Empty title="No environments yet.">
        <p>Store a secret to create one.</p>
      </Empty>
    )
  return (
    <>
      <p className="muted" role="status">
        {formatNumberOf(data.length, 'environment')}. An environment also receives the secrets of its parent. Its own
        take precedence.
      </p>
      <Table
        caption="Environments"
        columns={columnsOf(mayWrite ? setAsked : undefined)}
        rows={data}
        rowKey={({ env }) => env}
      />
      {asked !== undefined && (
        <SetParent project={project} environment={asked} environments={data} onClose={() => setAsked(undefined)} />
      )}
    </>
  )
}

function columnsOf(onSet: ((environment: Environment) => void) | undefined): readonly Column<Environment>[] {
  return [
    { head: 'Name', isMain: true, cell: ({ env }) => <span className="long-name">{env}</span> },
    {
      head: 'Inherits from',
      isEvident: true,
      cell: ({ parent }) => parent ?? <span className="muted">nothing</span>,
    },
    { head: 'Own secrets', align: 'end', cell: ({ secrets }) => secrets },
    ...actionsColumn<Environment>([{ verb: 'Set parent', labelOf: ({ env }) => `Set parent of ${env}`, onAct: onSet }]),
  ]
}

function SetParent(props: {
  project: string
  environment: Environment
  environments: readonly Environment[]
  onClose: () => void
}) {
  const { project, environment, environments, onClose } = props
  const { env, parent } = environment
  const queries = useQueryClient()
  const set = useMutation<unknown, ApiError, Values>({
    mutationFn: (values) =>
      read(
        api.PUT('/v1/admin/projects/{id}/environments/{env}', {
          params: { path: { id: project, env } },
          body: { parent: values['parent'] || null },
        }),
      ),
    onSuccess: async (_set, { parent: chosen = '' }) => {
      toast(chosen === '' ? `${env} inherits nothing.` : `${env} inherits from ${chosen}.`)
      onClose()
      await queries.invalidateQueries()
    },
  })
  const others = environments.flatMap((each) => (each.env === env ? [] : [[each.env, each.env] as const]))
  return (
    <FormDialog
      title={`Set the parent of ${env}`}
      action="Set parent"
      fields={['parent']}
      error={set.error}
      isBusy={set.isPending}
      onSubmit={(values) => set.mutate(values)}
      onClose={onClose}
      intro={
        <p>
          Keys that may read {env} also receive the secrets of its parent. Applications receive the change at their next
          fetch.
        </p>
      }
    >
      <SelectField
        label="Inherits from"
        name="parent"
        choices={[['', 'Nothing'], ...others]}
        defaultValue={parent ?? ''}
      />
    </FormDialog>
  )
}
