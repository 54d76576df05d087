import { Outlet, useRouterState } from '@tanstack/react-router'
import { Toasts } from '@vault-and-tracker/web-kit/feedback'
import { useFocusOnNewPage } from '@vault-and-tracker/web-kit/frame'
import { lazy, Suspense, useState } from 'react'
import { Bar } from './bar.tsx'
import { useKeys } from './use-keys.ts'

/** Pages for those who are not signed in have no bar. */
const BARE = new Set(['/login', '/register'])
const KeyList = lazy(async () => ({ default: (await import('./key-list.tsx')).KeyList }))

/** What all pages stand in. */
export function Frame() {
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const [showsKeys, setShowsKeys] = useState(false)
  useKeys(() => setShowsKeys(true))
  useFocusOnNewPage(useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname }))
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
      {showsKeys && (
        <Suspense>
          <KeyList onClose={() => setShowsKeys(false)} />
        </Suspense>
      )}
      <Toasts />
    </>
  )
}
