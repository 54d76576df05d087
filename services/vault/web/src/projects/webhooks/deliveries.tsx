import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Empty, Pending, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { Ago, formatDuration, formatExactTime, formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { api, read } from '../../api/client.ts'
import { useAdministrator } from '../../api/session.ts'
import type { Webhook, WebhookDelivery } from '../../api/types.ts'
import { deliveriesOf } from './queries.ts'

/** The log of a webhook. */
export function Deliveries({ project, webhook }: { project: string; webhook: Webhook }) {
  const { mayWrite } = useAdministrator(project)
  const queries = useQueryClient()
  const { data, error, refetch, isFetching, dataUpdatedAt } = useQuery(deliveriesOf(project, webhook.id))
  const refresh = async (): Promise<void> => {
    await queries.invalidateQueries({ queryKey: ['webhooks', project] })
    await refetch()
  }
  const test = useMutation({
    mutationFn: () =>
      read(
        api.POST('/v1/admin/projects/{id}/webhooks/{webhookId}/test', {
          params: { path: { id: project, webhookId: webhook.id } },
        }),
      ),
    onSuccess: async () => {
      toast('Sending a test event. Refresh to see its result.')
      await refresh()
    },
    onError: toastProblem,
  })
  return (
    <>
      <p>
        <Link to="." search={{ tab: 'webhooks' }} resetScroll={false}>
          All webhooks
        </Link>
      </p>
      <h2>
        Deliveries to <WebhookUrl webhook={webhook} />
      </h2>
      <div className="manage-head">
        <div className="manage-filters">
          <Button isBusy={isFetching} onClick={() => void refresh()}>
            Refresh
          </Button>
          {mayWrite && (
            <Button isBusy={test.isPending} onClick={() => test.mutate()}>
              Send test event
            </Button>
          )}
        </div>
        <p className="muted" role="status">
          <ReceiverState webhook={webhook} />
          {data !== undefined && ` · ${formatNumberOf(data.length, 'delivery', 'deliveries')}`}
        </p>
      </div>
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={6} label="Loading deliveries…" />
      ) : data.length === 0 ? (
        <Empty title="No deliveries.">
          <p>Change a secret or send a test event.</p>
        </Empty>
      ) : (
        <Table
          caption="Deliveries"
          columns={columnsAt(dataUpdatedAt)}
          rows={data}
          rowKey={({ id }) => id}
          isStale={isFetching}
        />
      )}
    </>
  )
}

function columnsAt(now: number): readonly Column<WebhookDelivery>[] {
  return [
    { head: 'Event', isMain: true, cell: ({ id, event }) => <code title={`Delivery ${id}`}>{event}</code> },
    { head: 'Time', isEvident: true, cell: ({ createdAt }) => <Ago time={createdAt} now={now} /> },
    { head: 'State', isEvident: true, cell: (delivery) => <State delivery={delivery} now={now} /> },
    { head: 'Attempts', align: 'end', cell: ({ attempts }) => attempts },
    { head: 'Last response', cell: ({ httpStatus, problem }) => httpStatus ?? problem },
  ]
}

function State({ delivery: { state, nextAttemptAt }, now }: { delivery: WebhookDelivery; now: number }) {
  if (state === 'delivered') return 'Delivered'
  if (state === 'given_up')
    return (
      <span className="tag" data-tone="warn">
        Given up
      </span>
    )
  const waitMs = nextAttemptAt === null ? 0 : Date.parse(nextAttemptAt) - now
  return <>Waiting{waitMs > 0 && <span className="muted">, next attempt in {formatDuration(waitMs / 1_000)}</span>}</>
}

/** The URL of a webhook. The vault does not show its query, which may contain a secret of the receiver. */
export function WebhookUrl({ webhook: { url, hasQuery } }: { webhook: Webhook }) {
  return (
    <span className="webhook-url">
      {url}
      {hasQuery && (
        <span className="muted" title="The query is hidden, because it may contain a secret.">
          ?…
        </span>
      )}
    </span>
  )
}

/** Whether a webhook receives events, and whether its receiver responds. */
export function ReceiverState({ webhook: { enabled, failures, retryAt } }: { webhook: Webhook }) {
  if (!enabled) return <span className="tag">Disabled</span>
  if (failures === 0) return 'Enabled'
  return (
    <span
      className="tag"
      data-tone="warn"
      {...(retryAt !== null && { title: `Next attempt ${formatExactTime(retryAt)}` })}
    >
      {formatNumberOf(failures, 'failed attempt')}
    </span>
  )
}
