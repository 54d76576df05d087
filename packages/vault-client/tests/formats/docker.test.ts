import { expect, test } from '@jest/globals'
import { formatSecrets } from '../../src/formats/formats.ts'
import { provesReader, type Secrets } from './values.ts'

// Reads env files of containers with a port of Docker's parser.

/**
 * Reads an `--env-file` as the Docker CLI does (docker/cli, pkg/kvfile/kvfile.go, `parseKeyValueFile`, with `ScanLines`
 * of Go's bufio).
 */
function readEnvFile(text: string): Secrets {
  const secrets: Secrets = {}
  for (const scanned of text
    .replace(/^\ufeff/, '')
    .split('\n')
    .slice(0, -1)) {
    if (Buffer.byteLength(scanned) >= 64 * 1024) throw new Error('bufio.Scanner: token too long')
    // The characters of Go's unicode.IsSpace.
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

test("a port of Docker's parser reads all exported values byte for byte", () => {
  provesReader('docker', readEnvFile)
})

/** Maximum length of a value of `K_` in bytes. */
const LONGEST = 64 * 1024 - 1 - 'K_='.length

test('refuses a value that exceeds the line length by one byte', () => {
  const longest = { K_: 'x'.repeat(LONGEST) }
  expect(readEnvFile(formatSecrets(longest, 'docker'))).toEqual(longest)
  expect(() => formatSecrets({ K_: 'x'.repeat(LONGEST + 1) }, 'docker')).toThrow('K_')
  expect(() => formatSecrets({ K_: 'é'.repeat(LONGEST / 2 + 1) }, 'docker')).toThrow('K_')
})
