import { useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ownUser } from '../../api/queries.ts'
import { usePageTitle } from '../../frame/page-title.ts'
import { sectionsFor } from '../sections.ts'

/** Where the staff starts: each page and what it is for. */
export function OverviewPage() {
  const { data: user } = useSuspenseQuery(ownUser)
  usePageTitle('Staff')
  return (
    <>
      <h1>Staff</h1>
      <dl className="staff-sections">
        {sectionsFor(user.role)
          .slice(1)
          .map(({ to, name, what }) => (
            <div key={to}>
              <dt>
                <Link to={to}>{name}</Link>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
      </dl>
    </>
  )
}
