import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { formatSecrets } from '../../src/formats/formats.ts'
import { newFolder } from '../new-folder.ts'
import { environment, hexOf, PRINT_VARIABLES, provesReader, type Secrets } from './values.ts'

// A container's env file: read by a real Docker where one answers, and everywhere as Docker's own code reads it.
const folder = newFolder()

const ROOT = new URL('../../../../', import.meta.url).pathname
const [, IMAGE = ''] = /^FROM (\S+)$/m.exec(readFileSync(join(ROOT, 'examples/container/Dockerfile'), 'utf8')) ?? []
const RUN = ['run', '--rm', '--network', 'none']

/** Whether Docker starts a container here; why not, otherwise. */
function dockerProblem(): string | undefined {
  const options = { env: environment, timeout: 120_000 }
  if (spawnSync('docker', ['version', '--format', '{{.Server.Version}}'], options).status !== 0)
    return 'no Docker answers'
  if (spawnSync('docker', [...RUN, IMAGE, 'node', '--version'], options).status !== 0)
    return `Docker cannot start ${IMAGE}`
  return undefined
}
const problem = dockerProblem()
const name = 'docker run --env-file reads every value byte for byte, or the export names it'

function runContainer(text: string): Secrets {
  const file = join(folder, 'secrets')
  writeFileSync(file, text)
  return hexOf('docker', [...RUN, '--env-file', file, IMAGE, 'node', '-e', PRINT_VARIABLES])
}

/**
 * As the command line of Docker reads `--env-file` (docker/cli, pkg/kvfile/kvfile.go, `parseKeyValueFile`, with the
 * `ScanLines` of Go's bufio).
 */
function readEnvFile(text: string): Secrets {
  const secrets: Secrets = {}
  for (const scanned of text
    .replace(/^\ufeff/, '')
    .split('\n')
    .slice(0, -1)) {
    if (Buffer.byteLength(scanned) >= 64 * 1024) throw new Error('bufio.Scanner: token too long')
    // What Go's unicode.IsSpace knows.
    const line = scanned
      .replace(/\r$/, '')
      .replace(/^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/, '')
    if (line === '' || line.startsWith('#')) continue
    const [variable = '', ...rest] = line.split('=')
    if (/[ \t]/.test(variable)) throw new Error('variable contains whitespaces')
    if (variable === '') throw new Error('no variable name on line')
    secrets[variable] = rest.join('=')
  }
  return secrets
}

test("a container's env file is read byte for byte, or the export names the key: as Docker's own code does", () => {
  provesReader('docker', readEnvFile)
})

/** The longest value of `K_` that a line holds, in bytes. */
const LONGEST = 64 * 1024 - 1 - 'K_='.length

test('a value that is a byte longer than a line holds is refused', () => {
  const longest = { K_: 'x'.repeat(LONGEST) }
  expect(readEnvFile(formatSecrets(longest, 'docker'))).toEqual(longest)
  expect(() => formatSecrets({ K_: 'x'.repeat(LONGEST + 1) }, 'docker')).toThrow('is longer than a line may be')
  expect(() => formatSecrets({ K_: 'é'.repeat(LONGEST / 2 + 1) }, 'docker')).toThrow('is longer than a line may be')
})

if (problem === undefined)
  test(name, () => {
    provesReader('docker', runContainer, 3)
    const longest = { K_: 'x'.repeat(LONGEST) }
    expect(runContainer(formatSecrets(longest, 'docker'))).toEqual(longest)
    expect(() => runContainer(`K_=${'x'.repeat(LONGEST + 1)}\n`)).toThrow('token too long')
  })
else test.skip(`${name}: left out, ${problem}`, () => undefined)
