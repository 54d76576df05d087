import { useMutation, useQueryClient } from '@tanstack/react-query'
import { toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { formatExactTime } from '@vault-and-tracker/web-kit/format'
import { Appearance, AccountMenu as Menu } from '@vault-and-tracker/web-kit/frame'
import { account, api, read } from '../api/client.ts'
import { closeSession, ROLE_NAMES, useAdministrator } from '../api/session.ts'

const ACCESS = {
  holder: 'Write access to',
  administrator: 'Write access to',
  editor: 'Access to secrets of',
  auditor: 'Read access to',
} as const

/** Who is signed in, the theme, and signing out. */
export function AccountMenu() {
  const queries = useQueryClient()
  const { role, grants, session } = useAdministrator()
  const leave = (): void => {
    queries.clear()
    account.signedIn(undefined)
    closeSession()
  }
  const signOut = useMutation({
    mutationFn: () => read(api.DELETE('/v1/admin/session')),
    onSuccess: ({ signOutUrl }) => {
      leave()
      if (signOutUrl !== null) location.assign(signOutUrl)
    },
    onError: toastProblem,
  })
  return (
    <Menu label={session?.name ?? ROLE_NAMES[role]}>
      {() => (
        <>
          {session !== null && (
            <p className="account-about">
              <bdi className="long-name">{session.name}</bdi>
              <br />
              <span className="muted">
                Session ends <time dateTime={session.expiresAt}>{formatExactTime(session.expiresAt)}</time>
              </span>
            </p>
          )}
          {grants.map((grant, i) => (
            <p key={i} className="account-about muted">
              {ACCESS[grant.role]} {grant.projects === null ? 'all projects' : grant.projects.join(', ')}
            </p>
          ))}
          <Appearance />
          <a href="/docs">API</a>
          <button type="button" onClick={() => signOut.mutate()}>
            Sign out
          </button>
        </>
      )}
    </Menu>
  )
}
