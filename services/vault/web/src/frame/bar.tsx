import { Link } from '@tanstack/react-router'
import { Brand, Toasts } from '@vault-and-tracker/web-kit/frame'
import { useAdministrator } from '../api/session.ts'
import { AccountMenu } from './account-menu.tsx'

export function Bar() {
  const { seesAdministrators } = useAdministrator()
  return (
    <header className="bar">
      <div className="bar-row">
        <Link to="/" className="brand">
          <Brand />
        </Link>
        <nav aria-label="Main" className="bar-links">
          <Link to="/" activeOptions={{ exact: true, includeSearch: false }}>
            Overview
          </Link>
          <Link to="/projects" activeOptions={{ includeSearch: false }}>
            Projects
          </Link>
          <Link to="/expiring" activeOptions={{ includeSearch: false }}>
            Expiring
          </Link>
          {seesAdministrators && <Link to="/administrators">Administrators</Link>}
          <Link to="/audit" activeOptions={{ includeSearch: false }}>
            Audit log
          </Link>
        </nav>
        <Toasts />
        <AccountMenu />
      </div>
    </header>
  )
}
