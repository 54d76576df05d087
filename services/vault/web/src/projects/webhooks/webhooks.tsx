import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Confirm, Empty, Pending, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button, CopyButton } from '@vault-and-tracker/web-kit/form'
import { Ago, formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { Details } from '@vault-and-tracker/web-kit/layout'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { useState } from 'react'
import { api, read } from '../../api/client.ts'
import { useAdministrator } from '../../api/session.ts'
import type { Webhook } from '../../api/types.ts'
import { actionsColumn } from '../../frame/actions-column.tsx'
import { Deliveries, ReceiverState, WebhookUrl } from './deliveries.tsx'
import { signingKey, webhooksOf } from './queries.ts'
import { StoreWebhook } from './store-webhook.tsx'

const route = getRouteApi('/projects/$name')

type Asked = { readonly what: 'add' } | { readonly what: 'change' | 'delete'; readonly webhook: Webhook }

/** The webhooks of a project, or the deliveries of the one with the id `chosen`. */
export function Webhooks({ project, chosen }: { project: string; chosen: string | undefined }) {
  const { data, error, refetch, dataUpdatedAt } = useQuery(webhooksOf(project))
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={2} label="Loading webhooks…" />
  const webhook = data.find(({ id }) => id === chosen)
  if (webhook !== undefined) return <Deliveries project={project} webhook={webhook} />
  return <List project={project} webhooks={data} now={dataUpdatedAt} />
}

function List({ project, webhooks, now }: { project: string; webhooks: readonly Webhook[]; now: number }) {
  const navigate = route.useNavigate()
  const queries = useQueryClient()
  const { mayWrite } = useAdministrator(project)
  const [asked, setAsked] = useState<Asked>()
  const close = (): void => setAsked(undefined)
  const turn = useMutation({
    mutationFn: ({ id: webhookId, enabled }: Webhook) =>
      read(
        api.PATCH('/v1/admin/projects/{id}/webhooks/{webhookId}', {
          params: { path: { id: project, webhookId } },
          body: { enabled: !enabled },
        }),
      ),
    onSuccess: async (_changed, { enabled }) => {
      toast(enabled ? 'Webhook disabled.' : 'Webhook enabled.')
      await queries.invalidateQueries({ queryKey: ['webhooks', project] })
    },
    onError: toastProblem,
  })
  const open = ({ id }: Webhook) => void navigate({ search: { tab: 'webhooks', webhook: id }, resetScroll: false })
  const ask = (what: 'change' | 'delete') => (mayWrite ? (webhook: Webhook) => setAsked({ what, webhook }) : undefined)
  return (
    <>
      <div className="manage-head">
        <div className="manage-filters">
          {mayWrite && (
            <Button kind="main" onClick={() => setAsked({ what: 'add' })}>
              Add webhook
            </Button>
          )}
        </div>
        <p className="muted" role="status">
          {formatNumberOf(webhooks.length, 'webhook')}
        </p>
      </div>
      {webhooks.length === 0 ? (
        <Empty title="No webhooks.">
          <p>
            Add one to send the changes of this project to a URL, for example to start a deployment. A webhook receives
            names and versions, never values.
          </p>
        </Empty>
      ) : (
        <Table
          caption="Webhooks"
          columns={[
            ...columnsAt(now),
            ...actionsColumn<Webhook>([
              { verb: 'Deliveries', labelOf: ({ url }) => `Deliveries to ${url}`, onAct: open },
              { verb: 'Change', labelOf: ({ url }) => `Change ${url}`, onAct: ask('change') },
              {
                verb: 'Disable',
                labelOf: ({ url }) => `Disable ${url}`,
                isFor: ({ enabled }) => enabled,
                onAct: mayWrite ? turn.mutate : undefined,
              },
              {
                verb: 'Enable',
                labelOf: ({ url }) => `Enable ${url}`,
                isFor: ({ enabled }) => !enabled,
                onAct: mayWrite ? turn.mutate : undefined,
              },
              {
                verb: 'Delete',
                labelOf: ({ url }) => `Delete ${url}`,
                isDangerous: true,
                onAct: ask('delete'),
              },
            ]),
          ]}
          rows={webhooks}
          rowKey={({ id }) => id}
        />
      )}
      <SigningKey />
      {asked?.what === 'add' && <StoreWebhook project={project} onClose={close} />}
      {asked?.what === 'change' && <StoreWebhook project={project} changed={asked.webhook} onClose={close} />}
      {asked?.what === 'delete' && <DeleteWebhook project={project} webhook={asked.webhook} onClose={close} />}
    </>
  )
}

function columnsAt(now: number): readonly Column<Webhook>[] {
  return [
    { head: 'URL', isMain: true, cell: (webhook) => <WebhookUrl webhook={webhook} /> },
    { head: 'State', isEvident: true, cell: (webhook) => <ReceiverState webhook={webhook} /> },
    { head: 'Added', align: 'end', cell: ({ createdAt }) => <Ago time={createdAt} now={now} /> },
  ]
}

/** What a receiver needs to verify requests. */
function SigningKey() {
  const { data } = useQuery(signingKey)
  if (data === undefined) return null
  const key = (
    <span className="secret">
      <code>{data.publicKey}</code>
      <CopyButton text={data.publicKey} what="the public key" />
    </span>
  )
  return (
    <>
      <p className="muted">
        The vault signs each request (RFC 9421). Receivers verify it with this Ed25519 key, which is the same for all
        webhooks.
      </p>
      <Details facts={[['Public key', key]]} />
    </>
  )
}

function DeleteWebhook({ project, webhook, onClose }: { project: string; webhook: Webhook; onClose: () => void }) {
  const queries = useQueryClient()
  const { id: webhookId, url } = webhook
  const remove = useMutation({
    mutationFn: () =>
      read(
        api.DELETE('/v1/admin/projects/{id}/webhooks/{webhookId}', { params: { path: { id: project, webhookId } } }),
      ),
    onSuccess: async () => {
      toast('Webhook deleted.')
      onClose()
      await queries.invalidateQueries({ queryKey: ['webhooks', project] })
    },
    onError: toastProblem,
  })
  return (
    <Confirm
      title="Delete this webhook?"
      action="Delete webhook"
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate()}
      onCancel={onClose}
    >
      <p>
        This permanently deletes its log and its waiting deliveries. <code>{url}</code> receives no further changes of{' '}
        {project}.
      </p>
    </Confirm>
  )
}
