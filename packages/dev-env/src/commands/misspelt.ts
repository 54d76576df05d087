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
      (setting) => !COMMON.has(setting) && distance(written, setting) <= (setting.length < LONG ? 1 : 2),
    )
    return meant === undefined ? [] : [{ name, meant }]
  })
}

/** How many letters have to be added, left out, replaced or swapped with their neighbour (optimal string alignment). */
function distance(a: string, b: string): number {
  let [beforeLast, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row[j] = Math.min(
        at(last, j) + 1,
        at(row, j - 1) + 1,
        at(last, j - 1) + (same ? 0 : 1),
        swapped ? at(beforeLast, j - 2) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    beforeLast = last
    last = row
  }
  return at(last, b.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY
}
