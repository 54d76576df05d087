import { useRouterState } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import { Toasts } from './toasts.tsx'

/** The frame of every page: the skip link and the bar, which has a place for toasts. Without a bar, the page is a narrow column. */
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
      {!bar && <Toasts />}
    </>
  )
}

/**
 * Moves the focus to the content of a new page, so that screen readers and Tab start there. Keeps the focus of someone who
 * is typing.
 *
 * @param shown the path of the page; undefined before the first
 */
function useFocusOnNewPage(shown: string | undefined): void {
  const before = useRef(shown)
  useEffect(() => {
    const isFirst = before.current === undefined
    before.current = shown
    if (isFirst || document.activeElement?.closest('main, [role="search"], dialog')) return
    document.getElementById('content')?.focus({ preventScroll: true })
  }, [shown])
}
