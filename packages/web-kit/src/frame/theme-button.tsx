import { useState } from 'react'
import { applyTheme, rememberedTheme, themeAfter } from '../theme/index.ts'

export function ThemeButton() {
  const [theme, setTheme] = useState(rememberedTheme)
  const next = themeAfter(theme)
  return (
    <button
      type="button"
      onClick={() => {
        applyTheme(next)
        setTheme(next)
      }}
    >
      Theme: {theme}
    </button>
  )
}
