import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { gatesOf, jestResult, sum, tapResult } from './test-results.ts'

test('tests are counted, and a run with an exit code other than 0 counts as failed', () => {
  const report = { numPassedTests: 5, numFailedTests: 2, numRuntimeErrorTestSuites: 1, testResults: [] }
  expect(jestResult(1, report)).toMatchObject({ passed: 5, failed: 3 })
  const allPassed = { ...report, numFailedTests: 0, numRuntimeErrorTestSuites: 0 }
  expect(jestResult(1, allPassed)).toMatchObject({ passed: 5, failed: 1 })
  expect(jestResult(0, undefined)).toMatchObject({ passed: 0, failed: 1 })
  expect(tapResult(1, '# tests 4\n# pass 3\n# fail 1\n# cancelled 0\n')).toMatchObject({ passed: 3, failed: 1 })
  expect(tapResult(1, '')).toMatchObject({ passed: 0, failed: 1 })
  expect(sum([jestResult(0, { ...allPassed, numPassedTests: 1 })])).toEqual({ passed: 1, failed: 0, skipped: [] })
})

test('what was skipped is named, with the reason where a runner knows one', () => {
  const assertionResults = [
    { fullName: 'adds up', status: 'passed' },
    { fullName: 'is written later', status: 'todo' },
    { fullName: 'is left out', status: 'pending' },
  ]
  const report = { numPassedTests: 1, numFailedTests: 0, numRuntimeErrorTestSuites: 0 }
  const jest = jestResult(0, { ...report, testResults: [{ name: 'sum.test.ts', assertionResults }] })
  const tap = tapResult(0, 'ok 1 - runs\n    ok 2 - needs root # SKIP only for root\nok 3 - waits # SKIP\n# pass 1\n')
  expect(sum([jest, tap])).toEqual({
    passed: 2,
    failed: 0,
    skipped: [
      'is written later (sum.test.ts): the file says so',
      'is left out (sum.test.ts): the file says so',
      'needs root: only for root',
      'waits',
    ],
  })
})

test('the gates are those of `pnpm check`', () => {
  const file = join(import.meta.dirname, '../../../../package.json')
  const { scripts } = JSON.parse(readFileSync(file, 'utf8')) as { scripts: Record<string, string> }
  const gates = gatesOf(scripts['check'] ?? '')
  expect(gates).toEqual(['format', 'types', 'lint', 'arch', 'dead', 'api'])
  for (const gate of gates) expect(scripts[gate]).toBeTruthy()
})
