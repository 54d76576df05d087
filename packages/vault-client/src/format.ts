/** The ways `vault get` prints a map of secrets. */
export const FORMATS = ['json', 'dotenv', 'shell'] as const
export type Format = (typeof FORMATS)[number]

/** Names that a shell accepts as a variable; others could smuggle in a command. */
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/

/**
 * Prints secrets.
 *
 * - `json`: one object, two-space indent.
 * - `dotenv`: `KEY='value'`, with line breaks as they are, which every reader takes literally; `"value"` where the value
 *   holds a `'`. Readers differ in what they undo between double quotes, so one that also holds `\`, `"`, `$` or a
 *   backtick, and one with a carriage return, is escaped as a shell undoes it, and npm's dotenv does not.
 * - `shell`: `export KEY='value'` lines, safe to `eval` in a POSIX shell whatever a value holds.
 *
 * @throws Error naming the first key that is not a variable name, for dotenv and shell
 */
export function formatSecrets(secrets: Readonly<Record<string, string>>, format: Format): string {
  const entries = Object.entries(secrets).sort(([a], [b]) => (a < b ? -1 : 1))
  if (format === 'json') return `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`
  return entries
    .map(([name, value]) => {
      if (!VARIABLE.test(name)) throw new Error(`${JSON.stringify(name)} is not a variable name; use --format json`)
      return format === 'shell'
        ? `export ${name}='${value.replaceAll("'", String.raw`'\''`)}'\n`
        : `${name}=${quoteDotenv(value)}\n`
    })
    .join('')
}

function quoteDotenv(value: string): string {
  // Some readers take a backslash before the closing quote for an escape.
  if (!/['\r]|\\$/.test(value)) return `'${value}'`
  return `"${value.replace(/[\\"$`]/g, String.raw`\$&`).replaceAll('\r', String.raw`\r`)}"`
}
