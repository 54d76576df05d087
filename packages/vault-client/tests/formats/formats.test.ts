import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { parse } from 'dotenv'
import { parse as parseYaml } from 'yaml'
import { keysCutAtHash } from '../../src/formats/dotenv.ts'
import { FORMATS, type Format, formatSecrets } from '../../src/formats/formats.ts'
import { newFolder } from '../new-folder.ts'
import { AWKWARD, environment, hexOf, PRINT_VARIABLES, provesReader, type Secrets } from './values.ts'

const folder = newFolder()

function fileOf(text: string): string {
  const file = join(folder, 'secrets')
  writeFileSync(file, text)
  return file
}

const python = ['python3', '/usr/bin/python3'].find(
  (name) => spawnSync(name, ['-c', 'import dotenv'], { env: environment }).status === 0,
)

/** Programs that read a format. */
const READERS: readonly (readonly [reader: string, format: Format, read: (text: string) => Secrets])[] = [
  [
    'bash',
    'shell',
    (text) =>
      hexOf('bash', [
        ...['-c', 'set -eu; . "$1"; exec "$2" -e "$3"'],
        ...['bash', fileOf(text), process.execPath, PRINT_VARIABLES],
      ]),
  ],
  [
    'node --env-file',
    'dotenv',
    (text) => hexOf(process.execPath, [`--env-file=${fileOf(text)}`, '-e', PRINT_VARIABLES]),
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
        ...['-c', 'set -a; . "$1"; exec "$2" -e "$3"'],
        ...['sh', fileOf(text), process.execPath, PRINT_VARIABLES],
      ]),
  ],
  [
    'fish',
    'fish',
    (text) =>
      hexOf('fish', [
        '--no-config',
        '-c',
        'source $argv[1]; $argv[2] -e $argv[3]',
        fileOf(text),
        process.execPath,
        PRINT_VARIABLES,
      ]),
  ],
  ['a GitHub workflow', 'github-actions', readGithubEnv],
  ['the yaml package', 'yaml', (text) => (parseYaml(text) as Secrets | null) ?? {}],
]

/** Reads the file of `$GITHUB_ENV` as the runner does (actions/runner, FileCommandManager). */
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

test.each(READERS)('%s reads all values that are exported as %s byte for byte', (_reader, format, read) => {
  provesReader(format, read)
})

test('json represents all keys and values', () => {
  const every = Object.fromEntries(AWKWARD.map((value, i) => [`${value}-${String(i)}`, value]))
  expect(JSON.parse(formatSecrets({ ...every, ['__proto__']: 'kept' }, 'json'))).toEqual({
    ...every,
    ['__proto__']: 'kept',
  })
})

test('a Kubernetes manifest quotes all values, including empty ones', () => {
  const text = formatSecrets({ 'tls.key': 'a\nb', EMPTY: '' }, 'k8s', 'shop')
  expect(text).toBe(
    'apiVersion: v1\nkind: Secret\nmetadata:\n  name: "shop"\ntype: Opaque\ndata:\n  "EMPTY": ""\n  "tls.key": "YQpi"\n',
  )
})

test.each(FORMATS.filter((format) => format !== 'json' && format !== 'yaml' && format !== 'k8s'))(
  '%s refuses keys that are not variable names',
  (format) => {
    for (const key of ['x; rm -rf', 'a-b', '1a', ''])
      expect(() => formatSecrets({ [key]: '1' }, format)).toThrow(JSON.stringify(key))
  },
)

test('an error names up to ten keys that a format cannot represent', () => {
  expect(() => formatSecrets({ PEM: 'a\nb', FINE: '1', 'a-b': '1' }, 'docker')).toThrow(/\n {2}"PEM" .*\n {2}"a-b" .*$/)
  const many = Object.fromEntries(Array.from({ length: 13 }, (_, i) => [`K${String(i)}`, '\n']))
  expect(() => formatSecrets(many, 'docker')).toThrow(/(\n {2}"K\d+" .*){10}\n.* 3 more$/)
})

test.each([
  ['A=a#b', ['A']],
  ['A=#b', ['A']],
  ['export A = a b#c', ['A']],
  ['A: a#b', ['A']],
  ['A=a"b#c"', ['A']],
  ['A=1\r\nB=a#b\r\n', ['B']],
  ['A=a#b\nA=c', []],
  ['A=c\nA=a#b', ['A']],
  ['A=a #b', []],
  ['A= #b', []],
  ['A=a #b#c', []],
  ['A=\nB= # b', []],
  ["A='a#b'#c", []],
  ['A="a#b" # c', []],
  ['A=`a#b`', []],
  ['# A=a#b', []],
  ['A="a\nB=b#c\n"', []],
  ['', []],
])('in the .env file %j, a # may cut the values of %j', (file, keys) => {
  expect(keysCutAtHash(file)).toEqual(keys)
})
