import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Empty } from '@vault-and-tracker/web-kit/feedback'
import { formatDate } from '@vault-and-tracker/web-kit/format'
import { PageHead } from '@vault-and-tracker/web-kit/frame'
import { ownUser } from '../api/queries.ts'
import { userStats } from '../standing/queries.ts'
import { ROLE_NAMES } from '../standing/role-names.ts'
import { TransferCharts } from '../standing/transfer-charts.tsx'
import { UserNumbers } from '../standing/user-numbers.tsx'

const route = getRouteApi('/users/$id')

/** The public page of a member. The member and staff see everything. */
export function UserPage() {
  const { id } = route.useParams()
  const { days } = route.useSearch()
  const { data: stats } = useSuspenseQuery(userStats(id))
  const { data: own } = useQuery(ownUser)
  const seesEverything = stats.seeding !== undefined
  return (
    <div className="stack">
      <PageHead title={stats.username}>
        <p className="muted">
          {ROLE_NAMES[stats.role]} since {formatDate(stats.created)}
        </p>
        <Link to="/torrents" search={{ uploader: stats.username }}>
          Uploads
        </Link>
        {own?.id === id && <Link to="/me">Your account</Link>}
        {own?.role === 'moderator' && stats.role === 'member' && (
          <Link to="/admin/moderation/users/$id" params={{ id }}>
            Record
          </Link>
        )}
        {own?.role === 'admin' && (
          <Link to="/admin/users/$id" params={{ id }}>
            Manage user
          </Link>
        )}
      </PageHead>
      {stats.uploaded === undefined ? (
        <Empty title={`${stats.username} keeps their statistics private.`} />
      ) : (
        <UserNumbers stats={stats} />
      )}
      {seesEverything && <TransferCharts id={id} days={days} />}
    </div>
  )
}
