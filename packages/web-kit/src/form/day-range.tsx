import { useState } from 'react'
import type { Days } from '../address/index.ts'

/** Narrows a list to a range of days. If one end passes the other, the other moves along. */
export function DayRange({ from, to, onChange }: Days & { onChange: (days: Days) => void }) {
  return (
    <div className="filter-group">
      <Day label="From" value={from} onChange={(day) => onChange({ from: day, to: later(day, to) })} />
      <Day label="To" value={to} onChange={(day) => onChange({ from: earlier(from, day), to: day })} />
    </div>
  )
}

function later(from: string | undefined, to: string | undefined): string | undefined {
  return from !== undefined && to !== undefined && to < from ? from : to
}

function earlier(from: string | undefined, to: string | undefined): string | undefined {
  return from !== undefined && to !== undefined && to < from ? to : from
}

function Day(props: { label: string; value: string | undefined; onChange: (day: string | undefined) => void }) {
  const { label, value = '', onChange } = props
  // Kept while a year is incomplete, and until the address follows.
  const [typed, setTyped] = useState(value)
  const [known, setKnown] = useState(value)
  if (known !== value) {
    setKnown(value)
    setTyped(value)
  }
  return (
    <label className="day">
      {label}
      <input
        type="date"
        className="input"
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value)
          // While a year is typed, its first digits are the years 2, 20 and 202.
          if (!target.value.startsWith('0')) onChange(target.value || undefined)
        }}
      />
    </label>
  )
}
