import { useNavigate, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { idIn } from '../release/pasted-id.ts'

/** The search starts when typing pauses for this long. */
const PAUSE_MS = 150

/** The search in the bar. On the list it filters while you type; elsewhere, Enter opens the list. */
export function SearchBox() {
  const navigate = useNavigate()
  const { isList, searched } = useRouterState({
    select: ({ location }) => ({
      isList: location.pathname === '/torrents',
      searched: location.pathname === '/torrents' ? (location.search.search ?? '') : '',
    }),
    structuralSharing: true,
  })
  const [text, setText] = useState(searched)
  const input = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    if (document.activeElement !== input.current) setText(searched)
  }, [searched])
  const search = (words: string, replace: boolean): void => {
    clearTimeout(timer.current)
    const id = idIn(words)
    if (id !== undefined) {
      setText('')
      void navigate({ to: '/torrents', search: id })
      return
    }
    void navigate({
      to: '/torrents',
      search: (before) => ({ ...(isList ? before : {}), search: words.trim() || undefined, page: undefined }),
      replace,
    })
  }
  return (
    <form
      role="search"
      className="search"
      onSubmit={(event) => {
        event.preventDefault()
        search(text, isList)
      }}
    >
      <input
        ref={input}
        id="search"
        type="search"
        className="input"
        aria-label="Search torrents"
        aria-keyshortcuts="/"
        placeholder="Search torrents"
        maxLength={256}
        autoComplete="off"
        value={text}
        onPaste={(event) => {
          const pasted = event.clipboardData.getData('text')
          if (idIn(pasted) === undefined) return
          event.preventDefault()
          search(pasted, false)
        }}
        onChange={({ target }) => {
          setText(target.value)
          clearTimeout(timer.current)
          if (isList) timer.current = setTimeout(() => search(target.value, true), PAUSE_MS)
        }}
      />
    </form>
  )
}
