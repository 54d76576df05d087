import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Empty } from '@vault-and-tracker/web-kit/feedback'
import { EXACT, usePageTitle } from '@vault-and-tracker/web-kit/frame'
import { userStats } from '../standing/queries.ts'
import { TransferCharts } from '../standing/transfer-charts.tsx'
import { UserNumbers } from '../standing/user-numbers.tsx'

const route = getRouteApi('/users/$id')

/** What a member lets others see of them; to themselves and to staff, everything. */
export function UserPage() {
  const { id } = route.useParams()
  const { days } = route.useSearch()
  const { data: stats } = useSuspenseQuery(userStats(id))
  usePageTitle(stats.username)
  const seesEverything = stats.seeding !== undefined
  return (
    <div className="stack">
      <h1>{stats.username}</h1>
      {stats.uploaded === undefined ? (
        <Empty title={`${stats.username} keeps their statistics to themselves.`} />
      ) : (
        <UserNumbers stats={stats} />
      )}
      {seesEverything && (
        <TransferCharts
          id={id}
          days={days}
          link={(each, attributes, text) => (
            <Link
              to="/users/$id"
              params={{ id }}
              search={{ days: each }}
              className="button"
              activeOptions={EXACT}
              {...attributes}
            >
              {text}
            </Link>
          )}
        />
      )}
    </div>
  )
}
