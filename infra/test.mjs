// `npm test`: every gate and every test, given only Node and npm. The last line is `N passed, N failed`.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { capture, describeError, stopCommands } from '../packages/dev-env/src/processes/command.mjs'
import { requireProgram, requirePrograms } from '../packages/dev-env/src/processes/programs.mjs'
import { onInterrupt } from './lib/interrupt.mjs'
import { requireNode, requirePlainPath } from './lib/preflight.mjs'
import { createProgress, seconds } from './lib/progress.mjs'
import { installDependencies, loadCommands, ROOT, workspaceFolders } from './lib/workspace.mjs'

/** A part that hangs is killed, so that the last line is always printed. */
const TIMEOUT_MS = 45 * 60_000
/** Programs of tests that are installed before the first test starts, because global setups need some of them. */
const SMALL_PROGRAMS = ['fish', 'zsh', 'openssl', 'python3', 'python-dotenv', 'curl', 'nginx', 'shellcheck', 'strip']
/** Programs that take longer to install. Tests that need one wait for it. */
const LARGE_PROGRAMS = [
  'chromium-headless-shell',
  'aria2c',
  'transmission-daemon',
  'transmission-show',
  'qbittorrent-nox',
  'promtool',
  'mypy',
  'go',
]
const PATH = `${join(ROOT, 'node_modules', '.bin')}${delimiter}${process.env['PATH'] ?? ''}`

const beganAt = Date.now()
const step = createProgress()
const counts = { passed: 0, failed: 0 }
const reports = mkdtempSync(join(tmpdir(), 'npm-test-'))
onInterrupt((reason) => {
  console.error(`\n${reason}: stopping.`)
  stopCommands()
  process.exit(130)
})

await attempt(async () => {
  requireNode()
  requirePlainPath()
  if (!process.env['TEST_REDIS_URL']) await requireProgram('redis-server', { otherwise: ' (or brew install redis)' })
  // A missing program only fails the tests that use it. They try again to install it, and report why they cannot.
  const installed = requirePrograms(SMALL_PROGRAMS).catch(() => undefined)
  void installed.then(() => requirePrograms(LARGE_PROGRAMS)).catch(() => undefined)
  await installDependencies(step)
  const { build } = await loadCommands()
  // The compiler writes its output in spite of type errors, so the gates and tests can still run.
  await attempt(() => step('built', () => build({ root: ROOT, folders: workspaceFolders() })))
  await installed
  await Promise.all([runGates(), attempt(runInfra), attempt(runJest)])
})
rmSync(reports, { recursive: true, force: true })
console.log(`\nThat took ${seconds(Date.now() - beganAt)}.\n${counts.passed} passed, ${counts.failed} failed`)
process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1

/** Does something. An error counts as one failure and is shown. @param {() => Promise<unknown>} work */
async function attempt(work) {
  try {
    await work()
  } catch (error) {
    counts.failed += 1
    console.log(`\n${describeError(error)}\n`)
  }
}

/** Runs a shell script in the repository. @param {string} script @param {boolean} [isShown] */
async function shell(script, isShown = false) {
  const env = { ...process.env, CI: 'true', PATH, TEST_COMPILED: 'true' }
  return await capture('sh', ['-c', script], { cwd: ROOT, env, timeoutMs: TIMEOUT_MS, isShown })
}

/** One after the other, during the tests: most use one processor only. */
async function runGates() {
  /** @type {{ scripts: Record<string, string> }} */
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  for (const [, gate = '', options = ''] of scripts['check']?.matchAll(/pnpm (\w+)([^&]*)/g) ?? [])
    await attempt(() => step(`gate: ${gate}`, () => runGate(`${scripts[gate] ?? 'false'}${options}`)))
}

/** @param {string} script */
async function runGate(script) {
  const { code, output } = await shell(script)
  if (code !== 0) throw new Error(output.trimEnd())
  counts.passed += 1
}

/** Tests of scripts that run before dependencies are installed use Node's own test runner. */
async function runInfra() {
  const { code, output } = await shell('node --test --test-reporter=tap infra/*.test.mjs')
  /** @param {string} name */
  const count = (name) => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(output)?.[1] ?? 0)
  add(count('pass'), count('fail') + count('cancelled'), code)
  console.log(code === 0 ? `PASS infra (${count('pass')} tests)` : output)
}

async function runJest() {
  const report = join(reports, 'jest.json')
  const { code } = await shell(`NODE_OPTIONS=--experimental-vm-modules jest --ci --json --outputFile="${report}"`, true)
  /** @type {{ numPassedTests: number, numFailedTests: number, numRuntimeErrorTestSuites: number }} */
  const result = JSON.parse(readFileSync(report, 'utf8'))
  add(result.numPassedTests, result.numFailedTests + result.numRuntimeErrorTestSuites, code)
}

/** A run that failed for another reason than a failed test counts as one failure. @param {number} passed @param {number} failed @param {number} code */
function add(passed, failed, code) {
  counts.passed += passed
  counts.failed += failed === 0 && code !== 0 ? 1 : failed
}
