import { useEffect, useRef } from 'react'

/** Single-key shortcuts, off while typing or in a dialog. */
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
      // Keeps the key out of a dialog that it opens.
      event.preventDefault()
      act()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
}
