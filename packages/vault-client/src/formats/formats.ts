import { CommandError } from '../commands/terminal.ts'
import { dotenvLine } from './dotenv.ts'
import { type Format, Unfit, unfit, variable, withoutNull } from './variable.ts'

export { FORMATS, type Format } from './variable.ts'

type Writer = { head?: (name: string) => string; line: (key: string, value: string) => string }

const WRITERS: Readonly<Record<Exclude<Format, 'json'>, Writer>> = {
  dotenv: { line: dotenvLine },
  docker: { line: dockerLine },
  shell: {
    line: (key, value) => `export ${variable(key)}='${withoutNull(key, value).replaceAll("'", String.raw`'\''`)}'\n`,
  },
  // Between single quotes, fish only unescapes `\\` and `\'`.
  fish: {
    line: (key, value) => `set -gx ${variable(key)} '${withoutNull(key, value).replace(/[\\']/g, String.raw`\$&`)}'\n`,
  },
  // A JSON string is a double-quoted scalar of YAML 1.2 (section 7.3.1), except for characters that YAML cannot print.
  yaml: { line: (key, value) => `${yamlString(key)}: ${yamlString(value)}\n` },
  'github-actions': { line: githubLine },
  k8s: {
    head: (name) => `apiVersion: v1\nkind: Secret\nmetadata:\n  name: ${yamlString(name)}\ntype: Opaque\ndata:\n`,
    line: k8sLine,
  },
}

/**
 * Formats secrets, sorted by key. Values that a format cannot represent are refused, never changed.
 *
 * - `json`: one object, two-space indent.
 * - `dotenv`: `KEY='value'` lines as dotenv, Node's `--env-file` and python-dotenv read them.
 * - `docker`: `KEY=value` lines for `docker run --env-file`, without quotes and line breaks.
 * - `shell`: `export KEY='value'` lines, safe to `eval` in a POSIX shell for any value.
 * - `fish`: `set -gx KEY 'value'` lines to `source`.
 * - `yaml`: a map of double-quoted strings.
 * - `github-actions`: lines to append to the file that `$GITHUB_ENV` names.
 * - `k8s`: a Secret manifest, values in base64, named `name`.
 *
 * @throws CommandError that names the keys that the format cannot represent, at most ten
 */
export function formatSecrets(secrets: Readonly<Record<string, string>>, format: Format, name = 'secrets'): string {
  const entries = Object.entries(secrets).toSorted(([a], [b]) => (a < b ? -1 : 1))
  // The object has no prototype because a key can be `__proto__`.
  if (format === 'json')
    return `${JSON.stringify(Object.assign(Object.create(null), Object.fromEntries(entries)), null, 2)}\n`
  const { head, line } = WRITERS[format]
  if (entries.length === 0 && format === 'yaml') return '{}\n'
  const reasons: string[] = []
  const lines = entries.map(([key, value]) => {
    try {
      return line(key, value)
    } catch (error) {
      if (!(error instanceof Unfit)) throw error
      reasons.push(error.message)
      return ''
    }
  })
  if (reasons.length > 0) throw refusal(reasons, format)
  return `${head?.(name) ?? ''}${lines.join('')}`
}

/** Maximum number of keys in a message. */
const MAX_NAMED = 10

function refusal(reasons: readonly string[], format: Format): CommandError {
  const more = reasons.length - MAX_NAMED
  const named = [...reasons.slice(0, MAX_NAMED), ...(more > 0 ? [`and ${String(more)} more`] : [])]
  return new CommandError(
    `the format ${format} cannot represent these secrets; use --format json:\n  ${named.join('\n  ')}`,
  )
}

/** Maximum length of a line for Docker, in bytes. */
const DOCKER_LINE = 64 * 1024 - 1

/** Docker uses everything after the first `=` literally, except a carriage return at the end of the line. */
function dockerLine(key: string, value: string): string {
  if (/[\n\r]/.test(value)) throw unfit(key, 'contains a line break')
  if (Buffer.byteLength(`${key}=${value}`) > DOCKER_LINE) throw unfit(key, 'is longer than Docker allows for a line')
  return `${variable(key)}=${withoutNull(key, value)}\n`
}

function yamlString(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007F-\u009F\u2028\u2029\uFEFF\uFFFE\uFFFF]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** A value between two delimiters that it does not contain (GitHub: workflow commands, multiline strings). */
function githubLine(key: string, value: string): string {
  if (value.includes('\r')) throw unfit(key, 'contains a carriage return')
  let word = 'EOF'
  while (value.includes(word)) word += '_'
  return `${variable(key)}<<${word}\n${withoutNull(key, value)}\n${word}\n`
}

/** Keys of a Secret are letters, digits, `-`, `_` and `.` (Kubernetes API, Secret v1), and at most 253 of them. */
function k8sLine(key: string, value: string): string {
  if (!/^[-._A-Za-z0-9]{1,253}$/.test(key) || key === '.' || key.startsWith('..'))
    throw unfit(key, 'is not a valid key for a Kubernetes Secret')
  // Without quotes, an empty value, or base64 such as 1234 or null, would not be a string.
  return `  ${yamlString(key)}: ${yamlString(Buffer.from(value).toString('base64'))}\n`
}
