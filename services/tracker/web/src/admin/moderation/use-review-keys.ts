import { useEffect, useRef } from 'react'

/** Single keys of the page; none while one types or a dialog is open. */
export function useReviewKeys(keys: Readonly<Record<string, () => void>>): void {
  const latest = useRef(keys)
  useEffect(() => {
    latest.current = keys
  })
  useEffect(() => {
    const onKey = ({ key, target, ctrlKey, metaKey, altKey, repeat }: KeyboardEvent): void => {
      if (ctrlKey || metaKey || altKey || (repeat && key !== 'j' && key !== 'k')) return
      if (target instanceof Element && target.closest('input, textarea, select, dialog') !== null) return
      latest.current[key]?.()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
}
