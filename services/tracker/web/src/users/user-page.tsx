import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Empty } from '@vault-and-tracker/web-kit/feedback'
import { PageHead } from '@vault-and-tracker/web-kit/frame'
import { userStats } from '../standing/queries.ts'
import { TransferCharts } from '../standing/transfer-charts.tsx'
import { UserNumbers } from '../standing/user-numbers.tsx'

const route = getRouteApi('/users/$id')

/** The public page of a member. The member and staff see everything. */
export function UserPage() {
  const { id } = route.useParams()
  const { days } = route.useSearch()
  const { data: stats } = useSuspenseQuery(userStats(id))
  const seesEverything = stats.seeding !== undefined
  return (
    <div className="stack">
      <PageHead title={stats.username} />
      {stats.uploaded === undefined ? (
        <Empty title={`${stats.username} keeps their statistics private.`} />
      ) : (
        <UserNumbers stats={stats} />
      )}
      {seesEverything && <TransferCharts id={id} days={days} />}
    </div>
  )
}
