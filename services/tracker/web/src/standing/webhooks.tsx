import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Confirm, Empty, FormDialog, Pending, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button, SelectField, TextField, type Values } from '@vault-and-tracker/web-kit/form'
import { Ago } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { useState } from 'react'
import { api, type Webhook } from '../api/client.ts'

type Format = Webhook['format']
type NewWebhook = { url: string; format: Format; savedSearch: string | null }

const FORMATS = [
  ['json', 'JSON, signed'],
  ['discord', 'Discord'],
  ['slack', 'Slack'],
  ['ntfy', 'ntfy'],
] as const satisfies readonly (readonly [Format, string])[]

/** Requests for the webhooks of one owner. */
const REQUESTS = {
  own: {
    list: (signal: AbortSignal) => read(api.GET('/api/webhooks', { signal })),
    add: (body: NewWebhook) => read(api.POST('/api/webhooks', { body })),
    enable: (id: string, enabled: boolean) =>
      read(api.PATCH('/api/webhooks/{id}', { params: { path: { id } }, body: { enabled } })),
    test: (id: string) => read(api.POST('/api/webhooks/{id}/test', { params: { path: { id } } })),
    remove: (id: string) => read(api.DELETE('/api/webhooks/{id}', { params: { path: { id } } })),
  },
  site: {
    list: (signal: AbortSignal) => read(api.GET('/api/admin/webhooks', { signal })),
    add: (body: NewWebhook) => read(api.POST('/api/admin/webhooks', { body })),
    enable: (id: string, enabled: boolean) =>
      read(api.PATCH('/api/admin/webhooks/{id}', { params: { path: { id } }, body: { enabled } })),
    test: (id: string) => read(api.POST('/api/admin/webhooks/{id}/test', { params: { path: { id } } })),
    remove: (id: string) => read(api.DELETE('/api/admin/webhooks/{id}', { params: { path: { id } } })),
  },
}

type Whose = keyof typeof REQUESTS

const keyOf = (whose: Whose) => ['webhooks', whose]

/** The member's webhooks, or those of the site. */
export function Webhooks({ whose }: { whose: Whose }) {
  const queries = useQueryClient()
  const [isAdding, setAdding] = useState(false)
  const { data, error, refetch, dataUpdatedAt } = useQuery({
    queryKey: keyOf(whose),
    queryFn: async ({ signal }) => (await REQUESTS[whose].list(signal)).items,
  })
  return (
    <section className="stack" aria-labelledby="webhooks">
      <h2 id="webhooks">Webhooks</h2>
      <p className="prose">
        Send each new torrent to a URL when it is approved. Failed attempts are repeated for a day.
      </p>
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={2} label="Loading webhooks…" />
      ) : data.length === 0 ? (
        <Empty title="No webhooks yet." />
      ) : (
        <Table caption="Webhooks" columns={columnsOf(whose, dataUpdatedAt)} rows={data} rowKey={({ id }) => id} />
      )}
      <div className="form-actions">
        <Button onClick={() => setAdding(true)}>Add webhook</Button>
      </div>
      {isAdding && (
        <AddWebhook
          whose={whose}
          onClose={() => {
            setAdding(false)
            void queries.invalidateQueries({ queryKey: keyOf(whose) })
          }}
        />
      )}
    </section>
  )
}

function columnsOf(whose: Whose, now: number): readonly Column<Webhook>[] {
  return [
    { head: 'Receiver', isMain: true, cell: ({ url }) => url },
    { head: 'Format', cell: ({ format }) => FORMATS.find(([each]) => each === format)?.[1] },
    { head: 'State', isEvident: true, cell: (webhook) => <State webhook={webhook} now={now} /> },
    { head: 'Added', isMinor: true, cell: ({ created }) => <Ago time={created} now={now} /> },
    { head: 'Actions', isEvident: true, cell: (webhook) => <Actions whose={whose} webhook={webhook} /> },
  ]
}

function State({ webhook: { enabled, attempted, result }, now }: { webhook: Webhook; now: number }) {
  if (attempted === null) return enabled ? 'Nothing sent yet' : 'Disabled'
  return (
    <>
      {!enabled && (
        <span className="tag" data-tone="bad">
          Disabled
        </span>
      )}{' '}
      Last attempt <Ago time={attempted} now={now} />: {result}
    </>
  )
}

function Actions({ whose, webhook: { id, url, enabled } }: { whose: Whose; webhook: Webhook }) {
  const queries = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const settle = {
    onError: toastProblem,
    onSettled: () => queries.invalidateQueries({ queryKey: keyOf(whose) }),
  }
  const test = useMutation<{ result: string }, ApiError>({
    mutationFn: () => REQUESTS[whose].test(id),
    onSuccess: ({ result }) => toast(`Result of the test: ${result}.`),
    ...settle,
  })
  const turn = useMutation<unknown, ApiError>({
    mutationFn: () => REQUESTS[whose].enable(id, !enabled),
    onSuccess: () => toast(enabled ? 'Webhook disabled.' : 'Webhook enabled.'),
    ...settle,
  })
  const remove = useMutation<unknown, ApiError>({
    mutationFn: () => REQUESTS[whose].remove(id),
    onSuccess: () => toast('Webhook deleted.'),
    ...settle,
  })
  return (
    <>
      <Button className="small" disabled={test.isPending} onClick={() => test.mutate()} aria-label={`Test ${url}`}>
        Test
      </Button>{' '}
      <Button
        className="small"
        disabled={turn.isPending}
        onClick={() => turn.mutate()}
        aria-label={`${enabled ? 'Disable' : 'Enable'} ${url}`}
      >
        {enabled ? 'Disable' : 'Enable'}
      </Button>{' '}
      <Button className="small" onClick={() => setAsking(true)} aria-label={`Delete ${url}`}>
        Delete
      </Button>
      {isAsking && (
        <Confirm
          title={`Delete the webhook to ${url}?`}
          action="Delete webhook"
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate()}
          onCancel={() => setAsking(false)}
        >
          <p>It receives no further torrents. You have to enter its URL again to add it.</p>
        </Confirm>
      )}
    </>
  )
}

function AddWebhook({ whose, onClose }: { whose: Whose; onClose: () => void }) {
  const { data: searches } = useQuery({
    queryKey: ['saved', 'searches'],
    queryFn: async ({ signal }) => (await read(api.GET('/api/saved-searches', { signal }))).items,
    enabled: whose === 'own',
  })
  const add = useMutation<unknown, ApiError, Values>({
    mutationFn: (values) => REQUESTS[whose].add(bodyOf(values)),
    onSuccess: () => {
      toast('Webhook added.')
      onClose()
    },
  })
  const { error } = add
  return (
    <FormDialog
      title="Add webhook"
      action="Add webhook"
      fields={['url', 'format', 'savedSearch']}
      error={error}
      isBusy={add.isPending}
      onSubmit={(values) => add.mutate(values)}
      onClose={onClose}
    >
      <TextField
        label="URL"
        name="url"
        type="url"
        required
        maxLength={2_000}
        autoComplete="off"
        spellCheck={false}
        data-focus=""
        hint="Only its host is shown again, because the rest may be a secret."
        error={error}
      />
      <SelectField label="Format" name="format" choices={FORMATS} error={error} />
      {whose === 'own' && (
        <SelectField label="Torrents" name="savedSearch" error={error}>
          <option value="">All</option>
          {searches?.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
      )}
    </FormDialog>
  )
}

function bodyOf({ url = '', format, savedSearch = '' }: Values): NewWebhook {
  return {
    url: url.trim(),
    format: FORMATS.find(([each]) => each === format)?.[0] ?? 'json',
    savedSearch: savedSearch === '' ? null : savedSearch,
  }
}
