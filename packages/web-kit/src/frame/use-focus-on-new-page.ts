import { useEffect, useRef } from 'react'

/**
 * Moves the focus to the content when another page is shown, as a browser does that loads one: screen readers read it
 * from its beginning, and Tab goes on there. Whoever types in the search or in the page stays where they are.
 *
 * @param shown the path of the page that is shown; undefined before the first
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
