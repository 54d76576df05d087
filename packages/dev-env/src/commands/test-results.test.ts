import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { gatesOf, jestResult, sum, tapResult } from './test-results.ts'

test('tests are counted, and a run with an exit code other than 0 counts as failed', () => {
  const report = { numPassedTests: 5, numFailedTests: 2, numRuntimeErrorTestSuites: 1 }
  expect(jestResult(1, report)).toEqual({ passed: 5, failed: 3 })
  const allPassed = { ...report, numFailedTests: 0, numRuntimeErrorTestSuites: 0 }
  expect(jestResult(1, allPassed)).toEqual({ passed: 5, failed: 1 })
  expect(jestResult(0, undefined)).toEqual({ passed: 0, failed: 1 })
  expect(tapResult(1, '# tests 4\n# pass 3\n# fail 1\n# cancelled 0\n')).toEqual({ passed: 3, failed: 1 })
  expect(tapResult(1, '')).toEqual({ passed: 0, failed: 1 })
  expect(sum([jestResult(0, { ...allPassed, numPassedTests: 1 })])).toEqual({ passed: 1, failed: 0 })
})

test('the gates are those of `pnpm check`', () => {
  const file = join(import.meta.dirname, '../../../../package.json')
  const { scripts } = JSON.parse(readFileSync(file, 'utf8')) as { scripts: Record<string, string> }
  const gates = gatesOf(scripts['check'] ?? '')
  expect(gates).toEqual(['format', 'types', 'lint', 'arch', 'dead', 'api'])
  for (const gate of gates) expect(scripts[gate]).toBeTruthy()
})
