import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Problem, Skeleton, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { formatBytes, formatCount, formatDuration, formatRatio } from '@vault-and-tracker/web-kit/format'
import { api, type OwnUser, type UserStats } from '../api/client.ts'
import { ownStats, ownUser } from '../api/queries.ts'

/** What one uploaded and downloaded, and who else sees it. */
export function Statistics({ user }: { user: OwnUser }) {
  const { data, error, refetch } = useQuery(ownStats(user.id))
  if (data === undefined)
    return error ? (
      <Problem error={error} onRetry={() => void refetch()} />
    ) : (
      <Skeleton rows={4} label="Statistics are loading." />
    )
  return (
    <>
      <dl className="numbers">
        {numbersOf(data).map(([label, value, note]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              {value}
              {note !== undefined && <span className="note">{note}</span>}
            </dd>
          </div>
        ))}
      </dl>
      <Visibility user={user} />
    </>
  )
}

function numbersOf(stats: UserStats): readonly (readonly [label: string, value: string, note?: string])[] {
  const { uploaded = 0, downloaded = 0, uploadedActual = 0, downloadedActual = 0 } = stats
  const { ratio = null, seeding = 0, leeching = 0, completed = 0, seedSeconds = 0, torrents = 0 } = stats
  return [
    ['Ratio', formatRatio(ratio), ratio === null ? 'nothing downloaded' : undefined],
    ['Uploaded', formatBytes(uploaded), differing(uploaded, uploadedActual)],
    ['Downloaded', formatBytes(downloaded), differing(downloaded, downloadedActual)],
    ['Seeding', formatCount(seeding)],
    ['Leeching', formatCount(leeching)],
    ['Seed time', formatDuration(seedSeconds)],
    ['Snatched', formatCount(completed)],
    ['Own uploads', formatCount(torrents)],
  ].map(([label = '', value = '', note]) => (note === undefined ? [label, value] : [label, value, note]))
}

function differing(credited: number, actual: number): string | undefined {
  return credited === actual ? undefined : `${formatBytes(actual)} transferred`
}

function Visibility({ user }: { user: OwnUser }) {
  const queries = useQueryClient()
  const change = useMutation<OwnUser, ApiError, boolean>({
    mutationFn: (statsPublic) => read(api.PATCH('/api/user/me', { body: { statsPublic } })),
    onSuccess: (changed) => {
      queries.setQueryData(ownUser.queryKey, changed)
      toast('Saved.')
    },
    onError: toastProblem,
  })
  return (
    <label className="switch">
      <input
        type="checkbox"
        checked={change.isPending ? change.variables : user.statsPublic}
        onChange={({ target }) => change.mutate(target.checked)}
      />
      Other members see my uploaded, downloaded and ratio
    </label>
  )
}
