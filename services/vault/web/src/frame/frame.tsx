import { Outlet, useRouterState } from '@tanstack/react-router'
import { Toasts } from '@vault-and-tracker/web-kit/feedback'
import { useFocusOnNewPage } from '@vault-and-tracker/web-kit/frame'
import type { ComponentType } from 'react'
import { useSession } from '../api/use-administrator.ts'
import { Bar } from './bar.tsx'

/**
 * Makes what all pages stand in. Without a session there is a form to sign in, at whatever address; then the page.
 *
 * @param SignIn the form
 */
export function createFrame(SignIn: ComponentType<{ reason: string | undefined }>) {
  return function Frame() {
    const session = useSession()
    useFocusOnNewPage(useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname }))
    return (
      <>
        <a className="skip" href="#content">
          Skip to the content
        </a>
        {session.isOpen && <Bar />}
        <main id="content" tabIndex={-1} className={session.isOpen ? 'page stack' : 'bare'}>
          {session.isOpen ? <Outlet /> : <SignIn reason={session.reason} />}
        </main>
        <Toasts />
      </>
    )
  }
}
