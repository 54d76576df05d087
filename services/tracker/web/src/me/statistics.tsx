import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Pending, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { api, type OwnUser } from '../api/client.ts'
import { ownStats, ownUser } from '../api/queries.ts'
import type { DayRange } from '../standing/queries.ts'
import { TransferCharts } from '../standing/transfer-charts.tsx'
import { UserNumbers } from '../standing/user-numbers.tsx'

export function Statistics({ user, days }: { user: OwnUser; days: DayRange | undefined }) {
  const { data, error, refetch } = useQuery(ownStats(user.id))
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={4} label="Loading statistics…" />
  return (
    <div className="stack">
      <UserNumbers stats={data} />
      <TransferCharts id={user.id} days={days} />
      <Visibility user={user} />
    </div>
  )
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
      Show my upload, download and ratio to other members
    </label>
  )
}
