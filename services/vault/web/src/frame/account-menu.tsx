import { useQueryClient } from '@tanstack/react-query'
import { AccountMenu as Menu, ThemeButton } from '@vault-and-tracker/web-kit/frame'
import { closeSession, ROLE_NAMES, useAdministrator } from '../api/session.ts'

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
            {role === 'auditor' ? 'Read access to' : role === 'editor' ? 'Access to secrets of' : 'Write access to'}{' '}
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
