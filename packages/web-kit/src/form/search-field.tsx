import { useEffect, useRef, useState } from 'react'

/** The search starts when typing pauses for this long. */
const PAUSE_MS = 250

/** Filters a list while you type. */
export function SearchField(props: {
  label: string
  value: string | undefined
  onChange: (text: string | undefined) => void
}) {
  const { label, value = '', onChange } = props
  const [text, setText] = useState(value)
  const input = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const asked = useRef(value)
  // The address differs from what was asked for after Back. While someone types, it only lags behind.
  useEffect(() => {
    if (asked.current !== value) setText(value)
    asked.current = value
  }, [value])
  useEffect(() => () => clearTimeout(timer.current), [])
  const search = (words: string): void => {
    clearTimeout(timer.current)
    asked.current = words.trim()
    onChange(asked.current || undefined)
  }
  return (
    <form
      role="search"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault()
        search(text)
      }}
    >
      <input
        ref={input}
        type="search"
        className="input"
        aria-label={label}
        placeholder={label}
        maxLength={64}
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={({ target }) => {
          setText(target.value)
          clearTimeout(timer.current)
          timer.current = setTimeout(() => search(target.value), PAUSE_MS)
        }}
      />
    </form>
  )
}
