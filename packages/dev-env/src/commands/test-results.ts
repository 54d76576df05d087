/** How many tests, or gates, passed and failed, and what was left out. */
export type Result = {
  passed: number
  failed: number
  /** The names of tests that were skipped, with the reason where one is given. */
  skipped: readonly string[]
}

/** What jest writes with --json, as far as it is needed here. */
export type JestReport = {
  numPassedTests: number
  numFailedTests: number
  numRuntimeErrorTestSuites: number
  testResults: readonly {
    name: string
    assertionResults: readonly { fullName: string; status: string }[]
  }[]
}

/** A gate is one thing that passes or fails. */
export function gateResult(code: number): Result {
  return { ...(code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }), skipped: [] }
}

/**
 * Counts what jest wrote with --json. A file that could not be loaded has no tests, and a run that failed for another
 * reason has no failed tests; both count as one failure. Jest knows no reason for a test that is skipped.
 */
export function jestResult(code: number, report: JestReport | undefined): Result {
  if (report === undefined) return gateResult(code === 0 ? 1 : code)
  const failed = report.numFailedTests + report.numRuntimeErrorTestSuites
  const skipped = report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status !== 'passed' && status !== 'failed')
      .map(({ fullName }) => `${fullName} (${name}): the file says so`),
  )
  return { passed: report.numPassedTests, failed: failed === 0 && code !== 0 ? 1 : failed, skipped }
}

/** Counts what Node's own test runner wrote in TAP. */
export function tapResult(code: number, output: string): Result {
  const count = (name: string): number => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(output)?.[1] ?? 0)
  const failed = count('fail') + count('cancelled')
  const skipped = [...output.matchAll(/^ *ok \d+ - (.*) # SKIP(?: (.*))?$/gm)].map(([, name = '', reason]) =>
    reason === undefined ? name : `${name}: ${reason}`,
  )
  return { passed: count('pass'), failed: failed === 0 && code !== 0 ? 1 : failed, skipped }
}

/** Adds up. */
export function sum(results: readonly Result[]): Result {
  return results.reduce(
    (all, one) => ({
      passed: all.passed + one.passed,
      failed: all.failed + one.failed,
      skipped: [...all.skipped, ...one.skipped],
    }),
    { passed: 0, failed: 0, skipped: [] },
  )
}

/** The scripts that `pnpm check` chains, in order. */
export function gatesOf(checkScript: string): string[] {
  return checkScript.split('&&').map((part) => part.trim().replace(/^pnpm /, ''))
}
