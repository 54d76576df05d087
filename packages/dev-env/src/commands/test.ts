import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import { type CommandResult, capture, describeError, Fault, stopCommands } from '../processes/command.mjs'
import { stopAll } from '../processes/managed-process.ts'
import { startTestServers } from '../testing/servers.ts'
import type { Step } from '../world/options.ts'
import { gateResult, gatesOf, type JestReport, jestResult, type Result, sum, tapResult } from './test-results.ts'

/** No step takes this long; one that hangs is ended, so that the last line is always printed. */
const TIMEOUT_MS = 15 * 60_000

/** What `infra/test.mjs` passes once everything is built. */
export interface TestOptions {
  /** The repository. */
  root: string
  /** Packages and services, as `packages/service-kit`. */
  folders: readonly string[]
  step: Step
  /** Sets what happens on a signal, or when npm has ended. */
  onInterrupt: (handler: (reason: string) => void) => void
}

/** A gate, or the tests of one package. */
interface Check {
  label: string
  run: () => Promise<Result & { output: string }>
}

/**
 * `npm test`: every gate and every test. The output of a failed one is shown in full, that of a passed one is not.
 *
 * @returns how many passed and failed
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
  const runChecks = async (checks: Check[]): Promise<void> => {
    for (const { label, run } of checks) {
      await attempt(results, () =>
        step(label, async () => {
          const { output, ...result } = await run()
          results.push(result)
          if (result.failed > 0) throw new Fault(output.trimEnd())
          return result.passed === 1 ? '' : `${result.passed} passed`
        }),
      )
    }
  }
  await runChecks(gates(root))
  await attempt(results, async () => {
    const servers = await step('Postgres and Redis', () => startTestServers())
    const env = { TEST_DATABASE_URL: servers.run.adminUrl, TEST_REDIS_URL: servers.run.redisUrl }
    try {
      await runChecks([infraTests(root, env), ...packageTests(root, folders, env, reports)])
    } finally {
      await servers.stop()
    }
  })
  rmSync(reports, { recursive: true, force: true })
  return sum(results)
}

/** An error that was not counted yet is one failure. */
async function attempt(results: Result[], work: () => Promise<unknown>): Promise<void> {
  const before = sum(results).failed
  try {
    await work()
  } catch (error) {
    console.log(`\n${describeError(error)}\n`)
    if (sum(results).failed === before) results.push({ passed: 0, failed: 1 })
  }
}

function gates(root: string): Check[] {
  const scripts = scriptsOf(root)
  return gatesOf(scripts['check'] ?? '').map((name) => ({
    label: `gate: ${name}`,
    run: async () => {
      const { code, output } = await shell(scripts[name] ?? 'false', root, root)
      return { ...gateResult(code), output }
    },
  }))
}

/** One for each package and service with a test script: the same script that `pnpm --filter <name> test` runs. */
function packageTests(root: string, folders: readonly string[], env: NodeJS.ProcessEnv, reports: string): Check[] {
  return folders.flatMap((folder) => {
    const script = scriptsOf(join(root, folder))['test']
    if (script === undefined) return []
    const report = join(reports, `${basename(folder)}.json`)
    const command = `${script} --ci --passWithNoTests --maxWorkers=2 --json --outputFile="${report}"`
    const run: Check['run'] = async () => {
      const { code, output } = await shell(command, root, join(root, folder), env)
      return { ...jestResult(code, readReport(report)), output }
    }
    return [{ label: folder, run }]
  })
}

/** The tests of `infra`, on Node's own runner: what they test runs before anything is installed. */
function infraTests(root: string, env: NodeJS.ProcessEnv): Check {
  const files = readdirSync(join(root, 'infra')).filter((file) => file.endsWith('.test.mjs'))
  const args = ['--test', '--test-reporter=tap', ...files.map((file) => join('infra', file)).sort()]
  return {
    label: 'infra',
    run: async () => {
      const options = { cwd: root, env: { ...process.env, ...env }, timeoutMs: TIMEOUT_MS }
      const { code, output } = await capture(process.execPath, args, options)
      return { ...tapResult(code, output), output }
    },
  }
}

async function shell(script: string, root: string, cwd: string, env: NodeJS.ProcessEnv = {}): Promise<CommandResult> {
  const bins = [cwd, root].map((folder) => join(folder, 'node_modules', '.bin'))
  const PATH = [...bins, process.env['PATH'] ?? ''].join(delimiter)
  return await capture('sh', ['-c', script], {
    cwd,
    env: { ...process.env, CI: 'true', ...env, PATH },
    timeoutMs: TIMEOUT_MS,
  })
}

function scriptsOf(folder: string): Record<string, string | undefined> {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    scripts?: Record<string, string>
  }
  return manifest.scripts ?? {}
}

function readReport(file: string): JestReport | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as JestReport
  } catch {
    return undefined
  }
}
