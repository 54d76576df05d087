import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import { capture, describeError, Fault, stopCommands } from '../processes/command.mjs'
import { stopAll } from '../processes/managed-process.ts'
import { startTestServers } from '../testing/servers.ts'
import { type BuildOptions, build } from '../world/build.ts'
import type { Step } from '../world/services.ts'
import { gateResult, gatesOf, type JestReport, jestResult, type Result, sum, tapResult } from './test-results.ts'

/** No step takes this long; one that hangs is ended, so that the last line is always printed. */
const TIMEOUT_MS = 15 * 60_000

/** What `infra/test.mjs` passes once dependencies are installed. */
export interface TestOptions extends BuildOptions {
  step: Step
  /** Sets what happens on a signal, or when npm has ended. */
  onInterrupt: (handler: (reason: string) => void) => void
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
  /** Does something, and reports its error. One that was not counted yet is one failure. */
  const attempt = async (work: () => Promise<unknown>): Promise<void> => {
    const before = sum(results).failed
    try {
      await work()
    } catch (error) {
      console.log(`\n${describeError(error)}\n`)
      if (sum(results).failed === before) results.push({ passed: 0, failed: 1 })
    }
  }
  /** Runs a shell script as a step, and counts what passed and failed in it. */
  const check = async (
    label: string,
    script: string,
    resultOf: (code: number, output: string) => Result,
    { folder = root, env = {} }: { folder?: string; env?: NodeJS.ProcessEnv } = {},
  ): Promise<void> => {
    const work = async (): Promise<string> => {
      const { code, output } = await shell(script, root, folder, env)
      const result = resultOf(code, output)
      results.push(result)
      if (result.failed > 0) throw new Fault(output.trimEnd())
      return result.passed === 1 ? '' : `${result.passed} passed`
    }
    await attempt(() => step(label, work))
  }
  // The compiler writes its output in spite of type errors, so the gates and tests can still run.
  await attempt(() => step('built', () => build({ root, folders })))
  const scripts = scriptsOf(root)
  for (const name of gatesOf(scripts['check'] ?? '')) {
    await check(`gate: ${name}`, scripts[name] ?? 'false', gateResult)
  }
  await attempt(async () => {
    const servers = await step('Postgres and Redis', () => startTestServers())
    const env = { TEST_DATABASE_URL: servers.run.adminUrl, TEST_REDIS_URL: servers.run.redisUrl }
    try {
      // On Node's own runner: what they test runs before anything is installed.
      await check('infra', 'node --test --test-reporter=tap infra/*.test.mjs', tapResult, { env })
      for (const folder of folders) {
        const report = join(reports, `${basename(folder)}.json`)
        // The same script that `pnpm --filter <name> test` runs.
        const script = scriptsOf(join(root, folder))['test']
        const options = `--ci --passWithNoTests --maxWorkers=2 --json --outputFile="${report}"`
        const resultOf = (code: number): Result => jestResult(code, readReport(report))
        if (script !== undefined)
          await check(folder, `${script} ${options}`, resultOf, { folder: join(root, folder), env })
      }
    } finally {
      await servers.stop()
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

function readReport(file: string): JestReport | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as JestReport
  } catch {
    return undefined
  }
}
