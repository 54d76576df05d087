import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { parse } from 'dotenv'
import fc from 'fast-check'
import { parse as parseYaml } from 'yaml'
import { FORMATS, type Format, formatSecrets } from '../../src/formats/formats.ts'

type Secrets = Record<string, string>

const folder = mkdtempSync(join(tmpdir(), 'vault-client-formats-'))
const environment = { ...process.env, NODE_OPTIONS: '' }

/** Runs a program that prints a JSON object of keys and values in hex. */
function hexOf(command: string, args: readonly string[]): Secrets {
  const printed = execFileSync(command, args, { encoding: 'utf8', env: environment, maxBuffer: 1 << 26 })
  const entries = Object.entries(JSON.parse(printed) as Secrets)
  return Object.fromEntries(entries.map(([key, hex]) => [key, Buffer.from(hex, 'hex').toString()]))
}

function fileOf(text: string): string {
  const file = join(folder, 'secrets')
  writeFileSync(file, text)
  return file
}

const python = ['python3', '/usr/bin/python3'].find(
  (name) => spawnSync(name, ['-c', 'import dotenv'], { env: environment }).status === 0,
)

/** What each program that people use makes of a format. */
const READERS: readonly (readonly [reader: string, format: Format, read: (text: string) => Secrets])[] = [
  [
    'bash',
    'shell',
    (text) =>
      hexOf('bash', [
        '-c',
        `set -eu; . "$1"; exec "$2" -e '
          const own = Object.entries(process.env).filter(([key]) => key.startsWith("K_"))
          console.log(JSON.stringify(Object.fromEntries(own.map(([k, v]) => [k, Buffer.from(v).toString("hex")]))))'`,
        'bash',
        fileOf(text),
        process.execPath,
      ]),
  ],
  [
    'node --env-file',
    'dotenv',
    (text) =>
      hexOf(process.execPath, [
        `--env-file=${fileOf(text)}`,
        '-e',
        `const own = Object.entries(process.env).filter(([key]) => key.startsWith('K_'))
         console.log(JSON.stringify(Object.fromEntries(own.map(([k, v]) => [k, Buffer.from(v).toString('hex')]))))`,
      ]),
  ],
  ['the dotenv package', 'dotenv', (text) => parse(text)],
  [
    'python-dotenv',
    'dotenv',
    (text) =>
      hexOf(python ?? 'python3', [
        '-c',
        `import dotenv, json, sys
print(json.dumps({k: v.encode().hex() for k, v in dotenv.dotenv_values(sys.argv[1]).items()}))`,
        fileOf(text),
      ]),
  ],
  [
    'a shell',
    'dotenv',
    (text) =>
      hexOf('sh', [
        '-c',
        `set -a; . "$1"; exec "$2" -e '
          const own = Object.entries(process.env).filter(([key]) => key.startsWith("K_"))
          console.log(JSON.stringify(Object.fromEntries(own.map(([k, v]) => [k, Buffer.from(v).toString("hex")]))))'`,
        'sh',
        fileOf(text),
        process.execPath,
      ]),
  ],
  ["a container's env file", 'docker', readEnvFile],
  ['a workflow of GitHub', 'github-actions', readGithubEnv],
  ['the yaml package', 'yaml', (text) => (parseYaml(text) as Secrets | null) ?? {}],
]

/** As the command line of Docker reads `--env-file` (docker/cli, opts/file.go and Go's bufio.ScanLines). */
function readEnvFile(text: string): Secrets {
  const secrets: Secrets = {}
  for (const scanned of text.split('\n').slice(0, -1)) {
    if (Buffer.byteLength(scanned) >= 64 * 1024) throw new Error('token too long')
    const line = scanned.replace(/\r$/, '').replace(/^[ \t]+/, '')
    if (line === '' || line.startsWith('#')) continue
    const [variable = '', ...rest] = line.split('=')
    if (/[ \t]/.test(variable)) throw new Error('variable contains whitespaces')
    secrets[variable] = rest.join('=')
  }
  return secrets
}

/** As the runner reads the file of `$GITHUB_ENV` (actions/runner, FileCommandManager). */
function readGithubEnv(text: string): Secrets {
  const lines = text.split('\n')
  const secrets: Secrets = {}
  for (let i = 0; i < lines.length - 1; ) {
    const [key = '', word = ''] = (lines[i++] ?? '').split('<<')
    const value: string[] = []
    while (lines[i] !== word) {
      if (i >= lines.length) throw new Error('the end is missing')
      value.push(lines[i++] ?? '')
    }
    i++
    secrets[key] = value.join('\n')
  }
  return secrets
}

const AWKWARD = [
  ...['', ' ', '  both sides  ', '\ttab\t', 'line\nbreak', '\n', 'ends\n', '\nbegins', 'a\r\nb', 'ends\r'],
  ...["'", "it's", '"', 'say "hi"', `both ' and "`, '`id`', '$HOME', '${HOME}', '$$', '$(id)', '\\', 'a\\nb', 'a\\\\b'],
  ...[
    'ends with \\',
    "\\'",
    '#',
    'a #comment',
    '# whole',
    '=',
    'a=b=c',
    '!',
    '!!',
    '%',
    '&',
    ';',
    '|',
    '*',
    '~',
    'é',
    '日本',
  ],
  ...[
    '👍',
    '\u00a0',
    '\u2028',
    '\ufeff',
    '\u0085',
    'EOF',
    'EOF_',
    '<<EOF',
    '{"json": ["$HOME"]}',
    '-----BEGIN\nKEY-----\n',
  ],
  ...['export A=1', 'null', 'true', '1', '- a', '? b', '@', '\u0001', '\u007f', 'postgres://shop:a"b$c@host/x#y'],
  ...['x'.repeat(65_536), 'x'.repeat(65_000), '\0'],
]

const values = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...AWKWARD) },
  fc.string({
    unit: fc.constantFrom('a', ' ', "'", '"', '\\', '$', '{', '}', '`', '\n', '#', '=', 'n', 'r'),
    maxLength: 12,
  }),
  fc.string({ unit: 'binary', maxLength: 12 }),
)

/** The secrets that a format takes, and how many it refuses, each by name. */
function accepted(secrets: Secrets, format: Format): { held: Secrets; refused: number } {
  const held: Secrets = {}
  let refused = 0
  for (const [key, value] of Object.entries(secrets)) {
    try {
      formatSecrets({ [key]: value }, format)
      held[key] = value
    } catch (error) {
      expect(error).toMatchObject({ name: 'CommandError', message: expect.stringContaining(`"${key}"`) })
      refused += 1
    }
  }
  return { held, refused }
}

test.each(READERS)('%s reads every value of %s byte for byte, or the export names it', (_reader, format, read) => {
  const every = Object.fromEntries(AWKWARD.map((value, i) => [`K_${String(i)}`, value]))
  const { held, refused } = accepted(every, format)
  expect(read(formatSecrets(held, format))).toEqual(held)
  // Refusing everything would be easy.
  expect(refused).toBeLessThanOrEqual(AWKWARD.length / 3)
  fc.assert(
    fc.property(fc.array(values, { minLength: 1, maxLength: 40 }), (list) => {
      const secrets = Object.fromEntries(list.map((value, i) => [`K_${String(i)}`, value]))
      const taken = accepted(secrets, format).held
      expect(read(formatSecrets(taken, format))).toEqual(taken)
    }),
    { numRuns: 6 },
  )
})

test('json holds everything', () => {
  const every = Object.fromEntries(AWKWARD.map((value, i) => [`${value}-${String(i)}`, value]))
  expect(JSON.parse(formatSecrets({ ...every, ['__proto__']: 'kept' }, 'json'))).toEqual({
    ...every,
    ['__proto__']: 'kept',
  })
})

test('a manifest of Kubernetes holds every value in base64', () => {
  const text = formatSecrets({ 'tls.key': 'a\nb', EMPTY: '' }, 'k8s', 'shop')
  expect(text).toBe(
    'apiVersion: v1\nkind: Secret\nmetadata:\n  name: "shop"\ntype: Opaque\ndata:\n  "EMPTY": \n  "tls.key": YQpi\n',
  )
})

test.each(FORMATS.filter((format) => format !== 'json' && format !== 'yaml' && format !== 'k8s'))(
  'a key that is no variable name is refused where a shell would read it: %s',
  (format) => {
    for (const key of ['x; rm -rf', 'a-b', '1a', ''])
      expect(() => formatSecrets({ [key]: '1' }, format)).toThrow(JSON.stringify(key))
  },
)

test('the shell format reads back unchanged whatever a value holds', () => {
  const value = `it's $(date) \`id\` "quoted" \\ and\na second line; $HOME`
  const script = `${formatSecrets({ VALUE: value }, 'shell')}printf '%s' "$VALUE"`
  expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' })).toBe(value)
})

test('what was exported is imported unchanged', () => {
  const { held } = accepted(Object.fromEntries(AWKWARD.map((value, i) => [`K_${String(i)}`, value])), 'dotenv')
  expect(parse(formatSecrets(held, 'dotenv'))).toEqual(held)
})
