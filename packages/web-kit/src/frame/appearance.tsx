import { useState } from 'react'
import { density, theme } from '../theme/index.ts'

/** The choices of theme and density in the menu. */
export function Appearance() {
  return (
    <>
      <Next label="Theme" choice={theme} />
      <Next label="Density" choice={density} />
    </>
  )
}

type Choice<Value extends string> = {
  readonly remembered: () => Value
  readonly after: (value: Value) => Value
  readonly apply: (value: Value) => void
}

/** Each press takes the next value. */
function Next<Value extends string>({ label, choice }: { label: string; choice: Choice<Value> }) {
  const [value, setValue] = useState(choice.remembered)
  return (
    <button
      type="button"
      className="menu-choice"
      onClick={() => {
        const next = choice.after(value)
        choice.apply(next)
        setValue(next)
      }}
    >
      {label}: <span>{value}</span>
    </button>
  )
}
