import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { read } from '@vault-and-tracker/web-kit/api'
import { toast } from '@vault-and-tracker/web-kit/feedback'
import { Appearance, AccountMenu as Menu } from '@vault-and-tracker/web-kit/frame'
import type { ReactNode } from 'react'
import { account, api } from '../api/client.ts'

/** The member's own pages, the theme, the keyboard shortcuts, and signing out. */
export function AccountMenu(props: { username: string | undefined; standing: ReactNode; onShowKeys: () => void }) {
  const { username, standing, onShowKeys } = props
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
          {standing}
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
