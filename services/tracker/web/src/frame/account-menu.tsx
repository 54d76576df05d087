import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { read } from '@vault-and-tracker/web-kit/api'
import { toast } from '@vault-and-tracker/web-kit/feedback'
import { Appearance, AccountMenu as Menu } from '@vault-and-tracker/web-kit/frame'
import { account, api } from '../api/client.ts'

/** The member's own pages, the theme, the keyboard shortcuts, and signing out. */
export function AccountMenu({ username, onShowKeys }: { username: string | undefined; onShowKeys: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const signOut = useMutation({
    mutationFn: () => read(api.POST('/api/auth/logout')),
    onSuccess: async () => {
      await navigate({ to: '/login' })
      account.signedIn(undefined)
      queries.clear()
    },
    onError: () => toast('Could not reach the server. You are still signed in.', 'bad'),
  })
  return (
    <Menu label={username ?? 'Account'}>
      {(close) => (
        <>
          <Link to="/me" onClick={close}>
            Your account
          </Link>
          <Link to="/me/torrents" onClick={close}>
            Your torrents
          </Link>
          <Link to="/me" search={{ tab: 'keys' }} onClick={close}>
            Passkey and API tokens
          </Link>
          <Link to="/welcome" onClick={close}>
            Welcome and rules
          </Link>
          <Appearance />
          <button
            type="button"
            onClick={() => {
              close()
              onShowKeys()
            }}
          >
            Keyboard shortcuts
          </button>
          <button type="button" onClick={() => signOut.mutate()}>
            Sign out
          </button>
        </>
      )}
    </Menu>
  )
}
