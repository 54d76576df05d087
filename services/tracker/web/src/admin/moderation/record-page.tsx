import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { formatCount, formatDate } from '@vault-and-tracker/web-kit/format'
import { PageHead } from '@vault-and-tracker/web-kit/frame'
import { Numbers } from '@vault-and-tracker/web-kit/layout'
import { userStats } from '../../standing/queries.ts'
import { ROLE_NAMES } from '../../standing/role-names.ts'
import { UserNumbers } from '../../standing/user-numbers.tsx'
import '../manage.css'
import { Exclusion } from '../parts/exclusion.tsx'
import { Notes } from '../parts/notes.tsx'
import { Warnings } from '../parts/warnings.tsx'
import { userRecord } from './queries.ts'

const route = getRouteApi('/admin/moderation/users/$id')

/** What a moderator knows and does about a member. */
export function RecordPage() {
  const { id } = route.useParams()
  const { data: user } = useSuspenseQuery(userRecord(id))
  const { data: stats } = useQuery(userStats(id))
  const { username, role, created } = user
  return (
    <div className="stack">
      <PageHead title={username}>
        <p className="muted">
          {ROLE_NAMES[role]} since {formatDate(created)}
        </p>
        <Link to="/users/$id" params={{ id }}>
          Statistics
        </Link>
        <Link to="/torrents" search={{ uploader: username }}>
          Uploads
        </Link>
      </PageHead>
      <Exclusion user={user} />
      <Numbers
        figures={[
          { label: 'Approved', value: formatCount(user.approved) },
          { label: 'Pending', value: formatCount(user.pending) },
          { label: 'Rejected', value: formatCount(user.rejected) },
          { label: 'Deleted', value: formatCount(user.deleted), note: 'in 30 days' },
        ]}
      />
      {stats && <UserNumbers stats={stats} />}
      <Warnings user={user} />
      <section aria-labelledby="notes" className="card narrow">
        <h2 id="notes">Staff notes</h2>
        <Notes about={{ type: 'user', id }} />
      </section>
    </div>
  )
}
