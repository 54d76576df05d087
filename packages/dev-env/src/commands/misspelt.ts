import leven from 'leven'

/** Common names, of which other programs use variants: LOGLEVEL, DATABASE_URI. Those are never reported. */
const COMMON = new Set(['HOST', 'PORT', 'LOG_LEVEL', 'DATA_DIR', 'PUBLIC_URL', 'DATABASE_URL', 'REDIS_URL'])
const LONG = 16

/**
 * Variables of an environment that are probably misspelt settings: they differ from a setting by one edit, or from a long
 * name by two. All other variables are ignored.
 */
export function misspelt(env: NodeJS.ProcessEnv, known: readonly string[]): { name: string; meant: string }[] {
  const settings = new Set(known)
  return Object.entries(env).flatMap(([name, value]) => {
    if (value === undefined || value === '' || settings.has(name)) return []
    const written = name.toUpperCase().replaceAll('-', '_')
    const meant = [...settings].find(
      (setting) => !COMMON.has(setting) && edits(written, setting) <= (setting.length < LONG ? 1 : 2),
    )
    return meant === undefined ? [] : [{ name, meant }]
  })
}

/** How many letters have to be added, left out or replaced; two that are swapped are one edit and not two. */
function edits(a: string, b: string): number {
  const letters = (text: string): string => Array.from(text).sort().join('')
  const distance = leven(a, b)
  return distance === 2 && letters(a) === letters(b) ? 1 : distance
}
