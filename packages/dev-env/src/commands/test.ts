import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { capture, describeError, Fault, stopCommands } from '../processes/command.mjs'
import { stopAll } from '../processes/managed-process.ts'
import { startTestServers } from '../testing/servers.ts'
import { type BuildOptions, build } from '../world/build.ts'
import type { Step } from '../world/services.ts'
import { progressIn } from './test-progress.ts'
import { gateResult, gatesOf, type JestReport, jestResult, type Result, sum, tapResult } from './test-results.ts'

/** No step takes this long; one that hangs is ended, so that the last line is always printed. */
const TIMEOUT_MS = 15 * 60_000

/** Lanes that run parts of the tests at the same time: in each, much of the time is waiting for servers and processes. */
const LANES = 2

const REPORTER = fileURLToPath(new URL('../jest/progress-reporter.mjs', import.meta.url))

/** What `infra/test.mjs` passes once dependencies are installed. */
export type TestOptions = {
  step: Step
  /** Sets what happens on a signal, or when npm has ended. */
  onInterrupt: (handler: (reason: string) => void) => void
} & BuildOptions

/** A part of the tests, which a lane runs with the servers that it has for itself. */
type Part = (servers: NodeJS.ProcessEnv) => Promise<void>

/** A failure whose tests are counted already. */
class CountedFault extends Fault {}

/**
 * `npm test`: every gate and every test. The output of a failed one is shown in full, that of a passed one is not.
 *
 * @returns how many passed and failed, and what was skipped
 */
export async function test({ root, folders, step, onInterrupt }: TestOptions): Promise<Result> {
  const results: Result[] = []
  const reports = mkdtempSync(join(tmpdir(), 'npm-test-'))
  onInterrupt((reason) => {
    console.error(`\n${reason}: stopping.`)
    stopCommands()
    void stopAll().then(() => {
      rmSync(reports, { recursive: true, force: true })
      process.exit(130)
    })
  })
  /** Does something, and reports its error. One that was not counted yet is one failure. */
  const attempt = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      console.log(`\n${describeError(error)}\n`)
      if (!(error instanceof CountedFault)) results.push(gateResult(1))
    }
  }
  /** Runs a shell script as a step, and counts what passed and failed in it. */
  const check = async (
    label: string,
    script: string,
    resultOf: (code: number, output: string) => Result,
    { folder = root, env = {}, progress = '' }: { folder?: string; env?: NodeJS.ProcessEnv; progress?: string } = {},
  ): Promise<void> => {
    const work = async (): Promise<string> => {
      const { code, output } = await shell(script, root, folder, env)
      const result = resultOf(code, output)
      results.push(result)
      if (result.failed > 0) throw new CountedFault(output.trimEnd())
      return result.passed === 1 ? '' : `${result.passed} passed`
    }
    await attempt(() => step(label, work, () => progressIn(progress)))
  }
  const jest = (folder: string, place: number): Part => {
    const report = join(reports, `${basename(folder)}.json`)
    const progress = `${report}.progress`
    // The same script that `pnpm --filter <name> test` runs.
    const script = scriptsOf(join(root, folder))['test'] ?? 'false'
    const reporters = `--reporters=default --reporters="${REPORTER}"`
    const order = `--testSequencer="${join(root, 'jest.sequencer.js')}"`
    // Of the longest a worker waits for minutes, so that it has one more.
    const workers = place === 0 ? 3 : 2
    const options = `--ci --passWithNoTests --maxWorkers=${workers} --json --outputFile="${report}" ${reporters} ${order}`
    const resultOf = (code: number): Result => jestResult(code, readReport(report))
    return (servers) =>
      check(folder, `${script} ${options}`, resultOf, {
        ...{ folder: join(root, folder), progress },
        env: { ...servers, TEST_PROGRESS: progress, TEST_COMPILED: 'true' },
      })
  }
  const infra: Part = (env) => {
    const progress = join(reports, 'infra.progress')
    const reporter = `--test-reporter=./infra/lib/progress-reporter.mjs --test-reporter-destination="${progress}"`
    // On Node's own runner: what they test runs before anything is installed.
    const script = `node --test --test-reporter=tap --test-reporter-destination=stdout ${reporter} infra/*.test.mjs`
    return check('infra', script, tapResult, { env, progress })
  }
  // The compiler writes its output in spite of type errors, so the gates and tests can still run.
  await attempt(() => step('built', () => build({ root, folders })))
  const scripts = scriptsOf(root)
  const gates = gatesOf(scripts['check'] ?? '').map(
    (name): Part =>
      () =>
        check(`gate: ${name}`, scripts[name] ?? 'false', gateResult),
  )
  // What takes longest is first, so that no lane is left with it in the end.
  const tests = folders
    .filter((folder) => scriptsOf(join(root, folder))['test'] !== undefined)
    .sort((a, b) => testFilesIn(join(root, b)) - testFilesIn(join(root, a)))
    .map(jest)
  const parts = [...tests.slice(0, 1), ...gates, infra, ...tests.slice(1)]
  await attempt(async () => {
    // A logical database of Redis belongs to a worker of one run of jest, so lanes cannot share a server.
    const lanes = Array.from({ length: process.env['TEST_REDIS_URL'] ? 1 : LANES }, () => startTestServers())
    const servers = await step('Postgres and Redis', () => Promise.all(lanes))
    try {
      await Promise.all(
        servers.map(async ({ run }) => {
          const env = { TEST_DATABASE_URL: run.adminUrl, TEST_REDIS_URL: run.redisUrl }
          for (let part = parts.shift(); part !== undefined; part = parts.shift()) await part(env)
        }),
      )
    } finally {
      await Promise.all(servers.map((one) => one.stop()))
    }
  })
  rmSync(reports, { recursive: true, force: true })
  return sum(results)
}

async function shell(script: string, root: string, cwd: string, env: NodeJS.ProcessEnv) {
  const bins = [cwd, root].map((folder) => join(folder, 'node_modules', '.bin'))
  const PATH = [...bins, process.env['PATH'] ?? ''].join(delimiter)
  const options = { cwd, env: { ...process.env, CI: 'true', ...env, PATH }, timeoutMs: TIMEOUT_MS }
  return await capture('sh', ['-c', script], options)
}

function scriptsOf(folder: string): Record<string, string | undefined> {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    scripts?: Record<string, string>
  }
  return manifest.scripts ?? {}
}

/** How many files of tests a package or service has, which is about how long they take. */
function testFilesIn(folder: string): number {
  const isTest = (name: string): boolean => name.endsWith('.test.ts') && !name.includes('node_modules')
  return ['src', 'tests', 'web']
    .filter((part) => existsSync(join(folder, part)))
    .flatMap((part) => readdirSync(join(folder, part), { recursive: true, encoding: 'utf8' }))
    .filter(isTest).length
}

function readReport(file: string): JestReport | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as JestReport
  } catch {
    return undefined
  }
}
