import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from '@jest/globals'
import { freePort, SOURCE_ARGUMENTS } from '@vault-and-tracker/dev-env'

const COUNT = 400
const OTHER = `
  const { freePort } = await import(${JSON.stringify(new URL('../src/processes/ports.ts', import.meta.url).href)})
  console.log((await Promise.all(Array.from({ length: ${COUNT} }, () => freePort()))).join(' '))
  process.stdin.resume()`

test('no two callers are given the same port, in one process or in two', async () => {
  const child = spawn(process.execPath, [...SOURCE_ARGUMENTS, '--input-type=module', '-e', OTHER])
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const here = await Promise.all(Array.from({ length: COUNT }, () => freePort()))
  const all = [...line.toString().trim().split(' ').map(Number), ...here]
  child.kill()
  await once(child, 'exit')
  expect(all).toHaveLength(2 * COUNT)
  expect(new Set(all).size).toBe(2 * COUNT)
})
