import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Pending, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { api, type Notice, type NoticeSettings } from '../api/client.ts'
import { noticeSettings } from './queries.ts'

type Kind = Notice['kind']

const KINDS: readonly (readonly [kind: Kind, text: string])[] = [
  ['approval', 'A torrent of mine is approved'],
  ['rejection', 'A torrent of mine is rejected'],
  ['edit', 'Staff edit a torrent of mine'],
  ['deletion', 'Staff delete a torrent of mine'],
  ['rates', 'Rates of the site, my account or a torrent of mine change'],
  ['reseed', 'A torrent that I uploaded or completed needs seeders'],
  ['search', 'A saved search has new torrents'],
  ['invite', 'Someone registers with my invite'],
]

/** The kinds of notices that the member receives. */
export function Settings() {
  const queries = useQueryClient()
  const { data, error, refetch } = useQuery(noticeSettings)
  const save = useMutation<NoticeSettings, ApiError, Kind[]>({
    mutationFn: (muted) => read(api.PATCH('/api/notices/settings', { body: { muted } })),
    onSuccess: (changed) => {
      queries.setQueryData(noticeSettings.queryKey, changed)
      toast('Saved.')
    },
    onError: toastProblem,
  })
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={8} label="Loading settings…" />
  const muted = save.isPending ? save.variables : data.muted
  return (
    <fieldset className="notice-settings">
      <legend>Notify me when</legend>
      {KINDS.map(([kind, text]) => (
        <label key={kind} className="switch">
          <input
            type="checkbox"
            checked={!muted.includes(kind)}
            onChange={({ target }) =>
              save.mutate(target.checked ? muted.filter((each) => each !== kind) : [...muted, kind])
            }
          />
          {text}
        </label>
      ))}
    </fieldset>
  )
}
