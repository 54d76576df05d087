import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Pending, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { api, type Notice, type NoticeSettings } from '../api/client.ts'
import { site } from '../api/queries.ts'
import { noticeSettings } from './queries.ts'

type Kind = Notice['kind']

/** Notices about the account itself cannot be disabled. */
const TEXTS: Readonly<Record<Exclude<Kind, 'second-factor' | 'token' | 'warning'>, string>> = {
  approval: 'One of my torrents is approved',
  rejection: 'One of my torrents is rejected',
  edit: 'Staff edit one of my torrents',
  deletion: 'Staff delete one of my torrents',
  rates: 'Rates change for the site, my account or one of my torrents',
  reseed: 'A torrent that I uploaded or completed needs seeders',
  report: 'Staff resolve one of my reports',
  search: 'A saved search has new torrents',
  invite: 'Someone registers with my invite',
  webhook: 'One of my webhooks is disabled',
}
const KINDS = Object.entries(TEXTS) as readonly (readonly [kind: Kind, text: string])[]

/** The kinds of notices that the member receives, and those that they receive by email too. */
export function Settings() {
  const queries = useQueryClient()
  const { data, error, refetch } = useQuery(noticeSettings)
  const sendsEmail = useQuery(site).data?.sendsEmail === true
  const save = useMutation<NoticeSettings, ApiError, Partial<NoticeSettings>>({
    mutationFn: (body) => read(api.PATCH('/api/notices/settings', { body })),
    onSuccess: (changed) => {
      queries.setQueryData(noticeSettings.queryKey, changed)
      toast('Saved.')
    },
    onError: toastProblem,
  })
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={8} label="Loading settings…" />
  const { muted, mailed } = { ...data, ...(save.isPending && save.variables) }
  return (
    <>
      <Kinds
        legend="Notify me when"
        chosen={KINDS.map(([kind]) => kind).filter((kind) => !muted.includes(kind))}
        onChange={(kind, isChosen) => save.mutate({ muted: changed(muted, kind, !isChosen) })}
      />
      {sendsEmail && (
        <Kinds
          legend="Also email me, at most once an hour, when"
          chosen={mailed}
          onChange={(kind, isChosen) => save.mutate({ mailed: changed(mailed, kind, isChosen) })}
        />
      )}
    </>
  )
}

function changed(kinds: readonly Kind[], kind: Kind, isListed: boolean): Kind[] {
  const others = kinds.filter((each) => each !== kind)
  return isListed ? [...others, kind] : others
}

function Kinds(props: { legend: string; chosen: readonly Kind[]; onChange: (kind: Kind, isChosen: boolean) => void }) {
  const { legend, chosen, onChange } = props
  return (
    <fieldset className="notice-settings">
      <legend>{legend}</legend>
      {KINDS.map(([kind, text]) => (
        <label key={kind} className="switch">
          <input
            type="checkbox"
            checked={chosen.includes(kind)}
            onChange={({ target }) => onChange(kind, target.checked)}
          />
          {text}
        </label>
      ))}
    </fieldset>
  )
}
