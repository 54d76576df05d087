import { readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import { expect, test } from '@jest/globals'
import * as torznab from '../src/index.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

test('the README’s example prints what it says', () => {
  const [, code = ''] = /```js\n(.*?)```/s.exec(readme) ?? []
  const printed: string[] = []
  const log = (...values: unknown[]): void => {
    printed.push(values.join(' '))
  }
  runInNewContext(code.replace("import * as torznab from '@vault-and-tracker/torznab-xml'", ''), {
    torznab,
    console: { log },
  })
  const promised = [...code.matchAll(/\/\/ (.*)/g)].map(([, text]) => text)
  expect(promised).toHaveLength(4)
  expect(printed).toEqual(promised)
})
