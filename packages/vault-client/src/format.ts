/** The ways `vault get` prints a map of secrets. */
export const FORMATS = ['json', 'dotenv', 'shell'] as const
export type Format = (typeof FORMATS)[number]

/** Names that a shell accepts as a variable; others could smuggle in a command. */
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/

/**
 * Prints secrets.
 *
 * - `json`: one object, two-space indent.
 * - `dotenv`: `KEY="value"` lines with `\`, `"`, `$`, line breaks escaped.
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
        : `${name}="${escapeDotenv(value)}"\n`
    })
    .join('')
}

function escapeDotenv(value: string): string {
  return value
    .replace(/[\\"$`]/g, String.raw`\$&`)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('\r', String.raw`\r`)
}
