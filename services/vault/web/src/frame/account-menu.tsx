import { useQueryClient } from '@tanstack/react-query'
import { ThemeButton } from '@vault-and-tracker/web-kit/frame'
import { session } from '../api/session.ts'
import { useAdministrator } from '../api/use-administrator.ts'

const ID = 'account-menu'
const ROLE_NAMES = { holder: 'Admin token', administrator: 'Administrator', auditor: 'Auditor' } as const

/** Who is signed in, the theme, and the way out. */
export function AccountMenu() {
  const queries = useQueryClient()
  const { role, projects } = useAdministrator()
  return (
    <div className="account">
      <button type="button" className="account-button" popoverTarget={ID}>
        {ROLE_NAMES[role]}
        <span aria-hidden="true">▾</span>
      </button>
      <div id={ID} popover="auto" className="account-menu">
        <p className="account-about muted">
          {role === 'auditor' ? 'You may read' : 'You may change'}{' '}
          {projects === null ? 'all projects' : projects.join(', ')}
        </p>
        <ThemeButton />
        <a href="/docs">API</a>
        <button
          type="button"
          onClick={() => {
            queries.clear()
            session.close()
          }}
        >
          Sign out
        </button>
      </div>
    </div>
  )
}
