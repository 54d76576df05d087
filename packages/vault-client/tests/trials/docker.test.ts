import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { formatSecrets } from '../../src/formats/formats.ts'
import { hexOf, PRINT_VARIABLES, provesReader, type Secrets } from '../formats/values.ts'
import { newFolder } from '../new-folder.ts'

// Needs Docker, which has to be running.
const folder = newFolder()

const ROOT = new URL('../../../../', import.meta.url).pathname
const [, IMAGE = ''] = /^FROM (\S+)$/m.exec(readFileSync(join(ROOT, 'examples/container/Dockerfile'), 'utf8')) ?? []
const RUN = ['run', '--rm', '--network', 'none']
/** The length of the longest value of `K_` in bytes. */
const LONGEST = 64 * 1024 - 1 - 'K_='.length

function runContainer(text: string): Secrets {
  const file = join(folder, 'secrets')
  writeFileSync(file, text)
  return hexOf('docker', [...RUN, '--env-file', file, IMAGE, 'node', '-e', PRINT_VARIABLES])
}

test('docker run --env-file reads all exported values byte for byte', () => {
  provesReader('docker', runContainer, 3)
  const longest = { K_: 'x'.repeat(LONGEST) }
  expect(runContainer(formatSecrets(longest, 'docker'))).toEqual(longest)
  expect(() => runContainer(`K_=${'x'.repeat(LONGEST + 1)}\n`)).toThrow('token too long')
})
