import { useEffect, useRef } from 'react'

/** Single keys of the page; none while one types or a dialog is open. */
export function useReviewKeys(keys: Readonly<Record<string, () => void>>): void {
  const latest = useRef(keys)
  useEffect(() => {
    latest.current = keys
  })
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { key, target, ctrlKey, metaKey, altKey, repeat } = event
      if (ctrlKey || metaKey || altKey || (repeat && key !== 'j' && key !== 'k')) return
      if (target instanceof Element && target.closest('input, textarea, select, dialog') !== null) return
      const act = latest.current[key]
      if (act === undefined) return
      // A dialog that opens must not get the key as text.
      event.preventDefault()
      act()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
}
