import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'

/** The second key of a pair must come within this time. */
const PAIR_MS = 1_000

/** The page that `g` and a letter open. */
const PAGES = { t: '/torrents', s: '/saved', u: '/upload', n: '/notices', m: '/me' } as const

/** The shortcuts of every page: `/` searches, `g` and a letter open a page, `?` lists the shortcuts. */
export function useKeys(showKeys: () => void): void {
  const navigate = useNavigate()
  const leaderAt = useRef(0)
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      const page = PAGES[event.key as keyof typeof PAGES] as (typeof PAGES)[keyof typeof PAGES] | undefined
      if (event.key === '/') {
        event.preventDefault()
        document.querySelector<HTMLInputElement>('#search')?.focus()
      } else if (event.key === '?') showKeys()
      else if (page !== undefined && event.timeStamp - leaderAt.current < PAIR_MS) void navigate({ to: page })
      leaderAt.current = event.key === 'g' ? event.timeStamp : 0
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [navigate, showKeys])
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input:not([type=checkbox]), textarea, select, dialog') !== null
}
