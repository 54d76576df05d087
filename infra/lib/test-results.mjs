/** What one step found. */
export function result(passed, failed) {
  return { passed, failed }
}

/** A gate is one thing that passes or fails. */
export function gateResult(code) {
  return code === 0 ? result(1, 0) : result(0, 1)
}

/**
 * Counts what jest wrote with --json. A file that could not even be loaded has no tests, and a run that failed for
 * another reason has no failed ones; both still count as a failure.
 */
export function jestResult(code, json) {
  if (json === undefined) return gateResult(code === 0 ? 1 : code)
  const failed = json.numFailedTests + json.numRuntimeErrorTestSuites
  return result(json.numPassedTests, failed === 0 && code !== 0 ? 1 : failed)
}

/** Counts what Node's own test runner wrote in TAP. */
export function tapResult(code, output) {
  const count = (name) => Number(output.match(new RegExp(`^# ${name} (\\d+)$`, 'm'))?.[1] ?? 0)
  const failed = count('fail') + count('cancelled')
  return result(count('pass'), failed === 0 && code !== 0 ? 1 : failed)
}

export function sum(results) {
  return results.reduce((all, one) => result(all.passed + one.passed, all.failed + one.failed), result(0, 0))
}

/** The scripts that `pnpm check` chains, in order. */
export function gatesOf(checkScript) {
  return checkScript.split('&&').map((part) => part.trim().replace(/^pnpm /, ''))
}
