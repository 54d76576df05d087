/** Common names, of which many variants are in use elsewhere: LOGLEVEL, DATABASE_URI. They are never a misspelling here. */
const COMMON = new Set(['HOST', 'PORT', 'LOG_LEVEL', 'DATA_DIR', 'PUBLIC_URL', 'DATABASE_URL', 'REDIS_URL'])
const LONG = 16

/**
 * Variables of an environment that are very likely meant for us and would be ignored: one edit away from a setting, two
 * from a long name. Other variables, of which every machine has many, are none of our business.
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
