import { useNavigate, useRouterState } from '@tanstack/react-router'
import { Icon } from '@vault-and-tracker/web-kit/icon'
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
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const asked = useRef(searched)
  // The address differs from what was asked for after Back. While someone types, it only lags behind.
  useEffect(() => {
    if (asked.current !== searched) setText(searched)
    asked.current = searched
  }, [searched])
  const search = (words: string, replace: boolean): void => {
    clearTimeout(timer.current)
    const id = idIn(words)
    if (id !== undefined) {
      setText('')
      asked.current = ''
      void navigate({ to: '/torrents', search: id })
      return
    }
    asked.current = words.trim()
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
        search(text, searched !== '')
      }}
    >
      <Icon name="search" />
      <input
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
          if (isList) timer.current = setTimeout(() => search(target.value, searched !== ''), PAUSE_MS)
        }}
      />
      <kbd aria-hidden="true">/</kbd>
    </form>
  )
}
