import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Pending } from '@vault-and-tracker/web-kit/feedback'
import { PageHead } from '@vault-and-tracker/web-kit/frame'
import { Icon } from '@vault-and-tracker/web-kit/icon'
import { ownUser } from '../../api/queries.ts'
import { sectionsFor } from '../sections.ts'
import { SetupChecklist } from './checklist.tsx'
import { OverviewNumbers } from './overview-numbers.tsx'
import { overview } from './queries.ts'

export function OverviewPage() {
  const { data: user } = useSuspenseQuery(ownUser)
  const { data, error, refetch } = useQuery(overview)
  const sections = sectionsFor(user.role).filter(({ to }) => to !== '/admin')
  return (
    <>
      <PageHead title="Staff" />
      {user.role === 'admin' && <SetupChecklist />}
      {data !== undefined ? (
        <OverviewNumbers overview={data} sections={sections} />
      ) : (
        <Pending error={error} onRetry={() => void refetch()} rows={4} label="Loading the overview…" />
      )}
      <dl className="staff-sections">
        {sections.map(({ to, name, what, icon }) => (
          <div key={to}>
            <dt>
              <Link to={to}>
                <Icon name={icon} />
                {name}
              </Link>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}
