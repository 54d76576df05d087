import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import ProgressReporter from '../jest/progress-reporter.mjs'
import { progressIn } from './test-progress.ts'

test('a run of jest tells how many files are done, and which run', () => {
  const folder = mkdtempSync(join(tmpdir(), 'test-progress-'))
  const file = join(folder, 'progress')
  const before = process.env['TEST_PROGRESS']
  process.env['TEST_PROGRESS'] = file
  try {
    expect(progressIn(file)).toBe('')
    const reporter = new ProgressReporter({ rootDir: '/here' })
    reporter.onRunStart({ numTotalTestSuites: 3 })
    expect(progressIn(file)).toBe('0 of 3 files')
    for (const name of ['a', 'b', 'c']) reporter.onTestFileStart({ path: `/here/tests/${name}.test.ts` })
    reporter.onTestFileResult({ path: '/here/tests/b.test.ts' })
    expect(progressIn(file)).toBe('1 of 3 files, now tests/a.test.ts, tests/c.test.ts')
    writeFileSync(file, '{"ended":', { flag: 'a' })
    expect(progressIn(file)).toMatch(/^1 of 3/)
  } finally {
    if (before === undefined) Reflect.deleteProperty(process.env, 'TEST_PROGRESS')
    else process.env['TEST_PROGRESS'] = before
    rmSync(folder, { recursive: true })
  }
})
