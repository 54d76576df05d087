import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Confirm, Empty, Pending, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button, Select } from '@vault-and-tracker/web-kit/form'
import { formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { useState } from 'react'
import { api, read } from '../../api/client.ts'
import { useAdministrator } from '../../api/session.ts'
import type { Environment, SecretMetadata } from '../../api/types.ts'
import { actionsColumn } from '../../frame/actions-column.tsx'
import { effectiveSecrets } from '../environments/inheritance.ts'
import { environmentsOf } from '../environments/queries.ts'
import { secretsOf } from './queries.ts'

/** The two environments that are compared. */
type Sides = { readonly left: string; readonly right: string }

/** A key that only one of the environments has. */
type Missing = {
  readonly key: string
  readonly from: string
  readonly to: string
  /** Where it is stored: `from`, or an environment from which that inherits. */
  readonly source: string
}

const route = getRouteApi('/projects/$name')

/** The keys that one of two environments lacks, side by side, and how many both have. The address names the two. */
export function Compare({ project }: { project: string }) {
  const chosen = route.useSearch()
  const navigate = route.useNavigate()
  const { mayEditSecrets } = useAdministrator(project)
  const { data: secrets, error, refetch } = useQuery(secretsOf(project))
  const { data: environments } = useQuery(environmentsOf(project))
  const [asked, setAsked] = useState<{ from: string; to: string; keys: readonly string[] }>()
  if (secrets === undefined || environments === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={6} label="Loading secrets…" />
  const envs = [...new Set([...secrets, ...environments].map(({ env }) => env))].toSorted()
  const left = envs.find((env) => env === chosen.left) ?? envs[0]
  const right = envs.find((env) => env === chosen.right && env !== left) ?? envs.find((env) => env !== left)
  if (left === undefined || right === undefined)
    return (
      <Empty title="Nothing to compare.">
        <p>This project needs secrets in two environments.</p>
      </Empty>
    )
  const choose = (sides: Sides): void => void navigate({ search: { tab: 'compare', ...sides }, resetScroll: false })
  const { missing, common } = compared({ secrets, environments }, { left, right })
  const choices = envs.map((env) => [env, env] as const)
  // Inherited secrets are copied one by one, from where they are stored.
  const missingIn = (env: string): readonly string[] =>
    missing.flatMap(({ key, from, to, source }) => (to === env && source === from ? key : []))
  return (
    <>
      <div className="manage-head">
        <div className="manage-filters">
          <Select
            label="Left environment"
            value={left}
            choices={choices}
            onChange={(env = left) => choose({ left: env, right: env === right ? left : right })}
          />
          <Select
            label="Right environment"
            value={right}
            choices={choices}
            onChange={(env = right) => choose({ left: env === left ? right : left, right: env })}
          />
        </div>
        <p className="muted" role="status">
          {formatNumberOf(missing.length, 'difference')}, {formatNumberOf(common, 'key')} in both
        </p>
      </div>
      {missing.length === 0 ? (
        <Empty title="No differences.">
          <p>
            {left} and {right} have the same keys. Their values may differ.
          </p>
        </Empty>
      ) : (
        <>
          <Table
            caption="Differences"
            columns={columnsOf(
              { left, right },
              mayEditSecrets ? ({ key, source, to }) => setAsked({ from: source, to, keys: [key] }) : undefined,
            )}
            rows={missing}
            rowKey={({ key }) => key}
          />
          {mayEditSecrets && (
            <div className="form-actions">
              {[[left, right] as const, [right, left] as const].map(([from, to]) => {
                const keys = missingIn(to)
                return (
                  keys.length > 0 && (
                    <Button key={to} onClick={() => setAsked({ from, to, keys })}>
                      Copy {keys.length} missing to {to}
                    </Button>
                  )
                )
              })}
            </div>
          )}
        </>
      )}
      {asked !== undefined && <CopySecrets {...asked} project={project} onClose={() => setAsked(undefined)} />}
    </>
  )
}

function compared(
  { secrets, environments }: { secrets: readonly SecretMetadata[]; environments: readonly Environment[] },
  { left, right }: Sides,
) {
  const sourcesIn = (env: string) =>
    new Map(effectiveSecrets(env, secrets, environments).map((secret) => [secret.key, secret.env]))
  const [inLeft, inRight] = [sourcesIn(left), sourcesIn(right)]
  const missing: readonly Missing[] = [
    ...[...inLeft].flatMap(([key, source]) => (inRight.has(key) ? [] : { key, from: left, to: right, source })),
    ...[...inRight].flatMap(([key, source]) => (inLeft.has(key) ? [] : { key, from: right, to: left, source })),
  ].toSorted((a, b) => (a.key < b.key ? -1 : 1))
  return { missing, common: [...inLeft.keys()].filter((key) => inRight.has(key)).length }
}

function columnsOf({ left, right }: Sides, onCopy: ((row: Missing) => void) | undefined): readonly Column<Missing>[] {
  const side = (env: string): Column<Missing> => ({
    head: env,
    cell: ({ from }) =>
      from === env ? (
        'present'
      ) : (
        <span className="tag" data-tone="warn">
          missing
        </span>
      ),
  })
  return [
    { head: 'Name', isMain: true, cell: ({ key }) => <code>{key}</code> },
    side(left),
    side(right),
    ...actionsColumn<Missing>([
      { verb: 'Copy', labelOf: ({ key, from, to }) => `Copy ${key} from ${from} to ${to}`, onAct: onCopy },
    ]),
  ]
}

/** Copies secrets after a confirmation. Those that exist meanwhile are kept. */
function CopySecrets(props: {
  project: string
  from: string
  to: string
  keys: readonly string[]
  onClose: () => void
}) {
  const { project, from, to, keys, onClose } = props
  const queries = useQueryClient()
  const copy = useMutation({
    mutationFn: () =>
      read(
        api.POST('/v1/admin/projects/{id}/secrets/copy', {
          params: { path: { id: project } },
          body: { from, to, keys: [...keys] },
        }),
      ),
    onSuccess: async ({ copied, skipped }) => {
      const kept = skipped === 0 ? '' : ` ${skipped} existed there and were kept.`
      toast(`Copied ${formatNumberOf(copied, 'secret')} to ${to}.${kept}`)
      onClose()
      await queries.invalidateQueries({ queryKey: ['secrets', project] })
      await queries.invalidateQueries({ queryKey: ['expiring'] })
    },
    onError: toastProblem,
  })
  return (
    <Confirm
      title={`Copy ${formatNumberOf(keys.length, 'secret')} to ${to}?`}
      action={keys.length === 1 ? 'Copy secret' : 'Copy secrets'}
      isBusy={copy.isPending}
      onConfirm={() => copy.mutate()}
      onCancel={onClose}
    >
      <p>
        This copies secrets of project {project} from {from} to {to} without showing their values. Applications that
        fetch {to} receive them at their next fetch.
      </p>
      <ul className="bullets copied-keys">
        {keys.map((key) => (
          <li key={key}>
            <code>{key}</code>
          </li>
        ))}
      </ul>
    </Confirm>
  )
}
