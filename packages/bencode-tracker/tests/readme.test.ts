import { readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import { expect, test } from '@jest/globals'
import * as wire from '../src/index.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

test('the example in the README prints what its comments say', () => {
  const [, code = ''] = /```js\n(.*?)```/s.exec(readme) ?? []
  const printed: string[] = []
  const log = (...values: unknown[]): void => {
    printed.push(values.join(' '))
  }
  runInNewContext(code.replace("import * as wire from '@vault-and-tracker/bencode-tracker'", ''), {
    wire,
    console: { log },
  })
  const promised = [...code.matchAll(/\/\/ (.*)/g)].map(([, text]) => text)
  expect(promised.length).toBe(5)
  expect(printed).toEqual(promised)
})
