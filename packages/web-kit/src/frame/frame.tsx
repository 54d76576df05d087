import { useRouterState } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import { toasts } from '../feedback/toast.ts'
import { useStore } from '../start/store.ts'

/** The frame of every page: the skip link, the bar and the toasts. Without a bar, the page is a narrow column. */
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

function Toasts() {
  return (
    <div className="toasts" role="status">
      {useStore(toasts).map(({ id, text, tone }) => (
        <p key={id} className="toast" data-tone={tone}>
          {text}
        </p>
      ))}
    </div>
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
