import { useState } from 'react'
import { density, theme } from '../theme/index.ts'

/** The choices of theme and density in the menu. Each press takes the next value. */
export function Appearance() {
  const [chosenTheme, setTheme] = useState(theme.remembered)
  const [chosenDensity, setDensity] = useState(density.remembered)
  return (
    <>
      <Next
        label="Theme"
        value={chosenTheme}
        onPress={() => {
          const next = theme.after(chosenTheme)
          theme.apply(next)
          setTheme(next)
        }}
      />
      <Next
        label="Density"
        value={chosenDensity}
        onPress={() => {
          const next = density.after(chosenDensity)
          density.apply(next)
          setDensity(next)
        }}
      />
    </>
  )
}

function Next({ label, value, onPress }: { label: string; value: string; onPress: () => void }) {
  return (
    <button type="button" className="menu-choice" onClick={onPress}>
      {label}: <span>{value}</span>
    </button>
  )
}
