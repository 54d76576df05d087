import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, Outlet } from '@tanstack/react-router'
import { Icon } from '@vault-and-tracker/web-kit/icon'
import { ownUser } from '../api/queries.ts'
import { Waiting } from './moderation/waiting.tsx'
import { OpenReports } from './reports/open-reports.tsx'
import './staff.css'
import { sectionsFor } from './sections.ts'

/** The list of staff pages, and the page next to it. */
export function StaffFrame() {
  const { data: user } = useSuspenseQuery(ownUser)
  return (
    <div className="staff">
      <nav aria-label="Staff" className="staff-list">
        {sectionsFor(user.role).map(({ to, name, icon }) => (
          <Link key={to} to={to} activeOptions={{ exact: to === '/admin', includeSearch: false }}>
            <Icon name={icon} />
            {name}
            {to === '/admin/moderation' && <Waiting />}
            {to === '/admin/reports' && <OpenReports />}
          </Link>
        ))}
      </nav>
      <div className="staff-page">
        <Outlet />
      </div>
    </div>
  )
}
