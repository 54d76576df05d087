import { readFileSync } from 'node:fs'
import { createContext, SourceTextModule, SyntheticModule } from 'node:vm'
import { expect, test } from '@jest/globals'
import * as sig from '../src/index.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

test('the README’s example runs, and prints what it says', async () => {
  const [, example = ''] = /```js\n([\s\S]+?)```/.exec(readme) ?? []
  const [, promised] = /console\.log\(.+\) \/\/ (.+)/.exec(example) ?? []
  const printed: unknown[] = []
  const context = createContext({ Uint8Array, console: { log: (text: unknown) => printed.push(text) } })
  const modules: Readonly<Record<string, object>> = {
    '@vault-and-tracker/http-signatures': sig,
    'node:crypto': await import('node:crypto'),
  }

  const module = new SourceTextModule(example, { context })
  await module.link((specifier) => {
    const exported = Object.entries(modules[specifier] ?? {})
    const names = exported.map(([name]) => name)
    return new SyntheticModule(
      names,
      function () {
        for (const [name, value] of exported) this.setExport(name, value)
      },
      { context },
    )
  })
  await module.evaluate()
  expect(printed).toEqual([promised])
})
