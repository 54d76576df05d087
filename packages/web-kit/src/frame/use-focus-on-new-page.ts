import { useEffect, useRef } from 'react'

/**
 * Moves the focus to the content of a new page, so that screen readers and Tab start there. Keeps the focus of someone who
 * is typing.
 *
 * @param shown the path of the page; undefined before the first
 */
export function useFocusOnNewPage(shown: string | undefined): void {
  const before = useRef(shown)
  useEffect(() => {
    const isFirst = before.current === undefined
    before.current = shown
    if (isFirst || document.activeElement?.closest('main, [role="search"], dialog')) return
    document.getElementById('content')?.focus({ preventScroll: true })
  }, [shown])
}
