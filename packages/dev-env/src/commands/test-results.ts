/** How many tests, or gates, passed and failed. */
export interface Result {
  passed: number
  failed: number
}

/** What jest writes with --json, as far as it is needed here. */
export interface JestReport {
  numPassedTests: number
  numFailedTests: number
  numRuntimeErrorTestSuites: number
}

/** A gate is one thing that passes or fails. */
export function gateResult(code: number): Result {
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }
}

/**
 * Counts what jest wrote with --json. A file that could not be loaded has no tests, and a run that failed for another
 * reason has no failed tests; both count as one failure.
 */
export function jestResult(code: number, report: JestReport | undefined): Result {
  if (report === undefined) return gateResult(code === 0 ? 1 : code)
  const failed = report.numFailedTests + report.numRuntimeErrorTestSuites
  return { passed: report.numPassedTests, failed: failed === 0 && code !== 0 ? 1 : failed }
}

/** Counts what Node's own test runner wrote in TAP. */
export function tapResult(code: number, output: string): Result {
  const count = (name: string): number => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(output)?.[1] ?? 0)
  const failed = count('fail') + count('cancelled')
  return { passed: count('pass'), failed: failed === 0 && code !== 0 ? 1 : failed }
}

/** Adds up. */
export function sum(results: readonly Result[]): Result {
  return results.reduce((all, one) => ({ passed: all.passed + one.passed, failed: all.failed + one.failed }), {
    passed: 0,
    failed: 0,
  })
}

/** The scripts that `pnpm check` chains, in order. */
export function gatesOf(checkScript: string): string[] {
  return checkScript.split('&&').map((part) => part.trim().replace(/^pnpm /, ''))
}
