import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { Confirm, Empty, FormDialog, Pending, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button, TextField, type Values } from '@vault-and-tracker/web-kit/form'
import { Ago, formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { useState } from 'react'
import { api, read } from '../../api/client.ts'
import { useAdministrator } from '../../api/session.ts'
import type { ReferenceRule } from '../../api/types.ts'
import { actionsColumn } from '../../frame/actions-column.tsx'
import { referenceRulesOf } from './queries.ts'

/** Which other projects may refer to secrets of a project. */
export function ReferenceRules({ project }: { project: string }) {
  const { mayWrite } = useAdministrator()
  const { data, error, refetch, dataUpdatedAt } = useQuery(referenceRulesOf(project))
  const [asked, setAsked] = useState<'add' | ReferenceRule>()
  const close = (): void => setAsked(undefined)
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={2} label="Loading reference rules…" />
  return (
    <>
      <div className="manage-head">
        <div className="manage-filters">
          {mayWrite && (
            <Button kind="main" onClick={() => setAsked('add')}>
              Add reference rule
            </Button>
          )}
        </div>
        <p className="muted" role="status">
          {formatNumberOf(data.length, 'reference rule')}
        </p>
      </div>
      {data.length === 0 ? (
        <Empty title="No reference rules.">
          <p>Add one to let another project use secrets of this one in its values.</p>
        </Empty>
      ) : (
        <Table
          caption="Reference rules"
          columns={columnsAt(dataUpdatedAt, mayWrite ? setAsked : undefined)}
          rows={data}
          rowKey={({ id }) => id}
        />
      )}
      {asked === 'add' && <AddReferenceRule project={project} onClose={close} />}
      {asked !== undefined && asked !== 'add' && <RemoveReferenceRule project={project} rule={asked} onClose={close} />}
    </>
  )
}

function columnsAt(
  now: number,
  onRemove: ((rule: ReferenceRule) => void) | undefined,
): readonly Column<ReferenceRule>[] {
  const listOf = (names: readonly string[] | null) => names?.join(', ') ?? <span className="muted">all</span>
  return [
    {
      head: 'Project',
      isMain: true,
      cell: ({ project }) => <span className="long-name">{project}</span>,
    },
    { head: 'Its environments', cell: ({ readerEnvs }) => listOf(readerEnvs) },
    { head: 'May read environments', isEvident: true, cell: ({ envs }) => listOf(envs) },
    { head: 'Secrets', isEvident: true, cell: ({ keys }) => listOf(keys) },
    { head: 'Added', align: 'end', cell: ({ createdAt }) => <Ago time={createdAt} now={now} /> },
    ...actionsColumn<ReferenceRule>([
      {
        verb: 'Remove',
        labelOf: ({ project }) => `Remove the rule for ${project}`,
        isDangerous: true,
        onAct: onRemove,
      },
    ]),
  ]
}

const FIELDS = [
  ['readerEnvs', 'Its environments', 'Environments of that project; all by default.'],
  ['envs', 'Environments', 'Environments of this project; all by default.'],
  ['keys', 'Secrets', 'Names of secrets; all by default.'],
] as const

function AddReferenceRule({ project, onClose }: { project: string; onClose: () => void }) {
  const queries = useQueryClient()
  const add = useMutation<unknown, ApiError, Values>({
    mutationFn: (values) => {
      const listOf = (name: string): string[] | null => {
        const names = (values[name] ?? '').split(',').flatMap((each) => each.trim() || [])
        return names.length === 0 ? null : names
      }
      const body = {
        project: (values['project'] ?? '').trim(),
        ...{ readerEnvs: listOf('readerEnvs'), envs: listOf('envs'), keys: listOf('keys') },
      }
      return read(api.POST('/v1/admin/projects/{id}/reference-rules', { params: { path: { id: project } }, body }))
    },
    onSuccess: async () => {
      toast('Reference rule added.')
      onClose()
      await queries.invalidateQueries()
    },
  })
  return (
    <FormDialog
      title={`Add a reference rule to ${project}`}
      action="Add reference rule"
      fields={['project', ...FIELDS.map(([name]) => name)]}
      error={add.error}
      isBusy={add.isPending}
      onSubmit={(values) => add.mutate(values)}
      onClose={onClose}
      intro={<p>Every key that can read the other project can then read these secrets too.</p>}
    >
      <TextField
        label="Project"
        name="project"
        required
        maxLength={63}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        data-focus=""
        hint="The project whose values refer to secrets of this one."
        error={add.error}
      />
      {FIELDS.map(([name, label, hint]) => (
        <TextField
          key={name}
          label={label}
          name={name}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          hint={`${hint} Separate names with commas.`}
          error={add.error}
        />
      ))}
    </FormDialog>
  )
}

function RemoveReferenceRule(props: { project: string; rule: ReferenceRule; onClose: () => void }) {
  const { project, rule, onClose } = props
  const queries = useQueryClient()
  const remove = useMutation({
    mutationFn: () =>
      read(
        api.DELETE('/v1/admin/projects/{id}/reference-rules/{ruleId}', {
          params: { path: { id: project, ruleId: rule.id } },
        }),
      ),
    onSuccess: async () => {
      toast('Reference rule removed.')
      onClose()
      await queries.invalidateQueries()
    },
    onError: toastProblem,
  })
  return (
    <Confirm
      title={`Remove the reference rule for ${rule.project}?`}
      action="Remove reference rule"
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate()}
      onCancel={onClose}
    >
      <p>Environments of {rule.project} whose values need this rule can no longer be fetched.</p>
    </Confirm>
  )
}
