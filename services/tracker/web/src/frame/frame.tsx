import { Outlet, useRouterState } from '@tanstack/react-router'
import { Toasts } from '@vault-and-tracker/web-kit/feedback'
import { useState } from 'react'
import { Bar } from './bar.tsx'
import { KeyList } from './key-list.tsx'
import { useKeys } from './use-keys.ts'

/** Pages for those who are not signed in have no bar. */
const BARE = new Set(['/login', '/register'])

/** What all pages stand in. */
export function Frame() {
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const [showsKeys, setShowsKeys] = useState(false)
  useKeys(() => setShowsKeys(true))
  const isBare = BARE.has(path)
  return (
    <>
      <a className="skip" href="#content">
        Skip to the content
      </a>
      {!isBare && <Bar onShowKeys={() => setShowsKeys(true)} />}
      <main id="content" tabIndex={-1} className={isBare ? 'bare' : 'page'}>
        <Outlet />
      </main>
      {showsKeys && <KeyList onClose={() => setShowsKeys(false)} />}
      <Toasts />
    </>
  )
}
