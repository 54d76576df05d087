import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { read } from '@vault-and-tracker/web-kit/api'
import { toast } from '@vault-and-tracker/web-kit/feedback'
import { ThemeButton } from '@vault-and-tracker/web-kit/frame'
import { useRef } from 'react'
import { api } from '../api/client.ts'

const ID = 'account-menu'

/** One's own pages, the theme, the keys, and the way out. */
export function AccountMenu({ username, onShowKeys }: { username: string | undefined; onShowKeys: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const menu = useRef<HTMLDivElement>(null)
  const close = (): void => menu.current?.hidePopover()
  const signOut = useMutation({
    mutationFn: () => read(api.POST('/api/auth/logout')),
    onSuccess: async () => {
      await navigate({ to: '/login' })
      queries.clear()
    },
    onError: () => toast('You are still signed in: the server was not reached.', 'bad'),
  })
  return (
    <div className="account">
      <button type="button" className="account-button" popoverTarget={ID}>
        {username ?? 'Account'}
        <span aria-hidden="true">▾</span>
      </button>
      <div ref={menu} id={ID} popover="auto" className="account-menu">
        <Link to="/me" onClick={close}>
          Your account
        </Link>
        <Link to="/me" search={{ tab: 'keys' }} onClick={close}>
          Passkey and Torznab
        </Link>
        <ThemeButton />
        <button
          type="button"
          onClick={() => {
            close()
            onShowKeys()
          }}
        >
          Keys
        </button>
        <button type="button" onClick={() => signOut.mutate()}>
          Sign out
        </button>
      </div>
    </div>
  )
}
