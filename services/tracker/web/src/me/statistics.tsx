import { useQuery } from '@tanstack/react-query'
import { Pending } from '@vault-and-tracker/web-kit/feedback'
import type { OwnUser } from '../api/client.ts'
import { ownStats } from '../api/queries.ts'
import type { DayRange } from '../standing/queries.ts'
import { TransferCharts } from '../standing/transfer-charts.tsx'
import { UserNumbers } from '../standing/user-numbers.tsx'
import { OwnSwitch } from './own-switch.tsx'

export function Statistics({ user, days }: { user: OwnUser; days: DayRange | undefined }) {
  const { data, error, refetch } = useQuery(ownStats(user.id))
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={4} label="Loading statistics…" />
  return (
    <div className="stack">
      <UserNumbers stats={data} />
      <TransferCharts id={user.id} days={days} />
      <OwnSwitch user={user} of="statsPublic" label="Show my upload, download and ratio to other members" />
    </div>
  )
}
