import { useRouterState } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Toasts } from '../feedback/toasts.tsx'
import { useFocusOnNewPage } from './use-focus-on-new-page.ts'

/** What surrounds every page: the skip link, the bar and the toasts. Without a bar, the page is a narrow column. */
export function Frame({
  bar,
  className = 'page',
  children,
}: {
  bar: ReactNode
  className?: string
  children: ReactNode
}) {
  useFocusOnNewPage(useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname }))
  return (
    <>
      <a className="skip" href="#content">
        Skip to content
      </a>
      {bar}
      <main id="content" tabIndex={-1} className={bar ? className : 'bare'}>
        {children}
      </main>
      <Toasts />
    </>
  )
}
