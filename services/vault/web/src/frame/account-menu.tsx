import { useQueryClient } from '@tanstack/react-query'
import { AccountMenu as Menu, ThemeButton } from '@vault-and-tracker/web-kit/frame'
import { closeSession, useAdministrator } from '../api/session.ts'

const ROLE_NAMES = { holder: 'Admin token', administrator: 'Administrator', auditor: 'Auditor' } as const

/** Who is signed in, the theme, and signing out. */
export function AccountMenu() {
  const queries = useQueryClient()
  const { role, projects } = useAdministrator()
  const signOut = (): void => {
    queries.clear()
    closeSession()
  }
  return (
    <Menu label={ROLE_NAMES[role]}>
      {() => (
        <>
          <p className="account-about muted">
            {role === 'auditor' ? 'Read access to' : 'Write access to'}{' '}
            {projects === null ? 'all projects' : projects.join(', ')}
          </p>
          <ThemeButton />
          <a href="/docs">API</a>
          <button type="button" onClick={signOut}>
            Sign out
          </button>
        </>
      )}
    </Menu>
  )
}
