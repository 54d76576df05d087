import { readdirSync, readFileSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'
import { capture } from './command.mjs'
import { workspaceFolders } from './dependencies.mjs'
import { ROOT } from './paths.mjs'
import { gateResult, gatesOf, jestResult, tapResult } from './test-results.mjs'

/** Longer than any step may take; one that hangs must not hang whoever waits for the last line. */
const TIMEOUT_MS = 8 * 60_000
const BIN = join(ROOT, 'node_modules', '.bin')

/** Steps whose `run` gives `{ passed, failed, output }`. */
export function gateSteps() {
  const { scripts } = readJson(join(ROOT, 'package.json'))
  return gatesOf(scripts.check).map((name) => ({
    label: `gate: ${name}`,
    run: async () => {
      const { code, output } = await shell(scripts[name], ROOT)
      return { ...gateResult(code), output }
    },
  }))
}

/** One step per package and service with a test script: the very script that `pnpm --filter <name> test` runs. */
export function packageSteps(env, workDir) {
  return workspaceFolders().flatMap((folder) => {
    const { scripts } = readJson(join(ROOT, folder, 'package.json'))
    if (scripts?.test === undefined) return []
    return [{ label: folder, run: () => runJest(scripts.test, folder, join(workDir, `${basename(folder)}.json`), env) }]
  })
}

async function runJest(script, folder, report, env) {
  const command = `${script} --ci --passWithNoTests --maxWorkers=2 --json --outputFile="${report}"`
  const { code, output } = await shell(command, join(ROOT, folder), env)
  return { ...jestResult(code, readIfThere(report)), output }
}

/** The tests of the scripts in this folder, which run without anything installed and so on Node's own runner. */
export function scriptStep(env) {
  const files = readdirSync(join(ROOT, 'infra'), { recursive: true })
    .filter((file) => file.endsWith('.test.mjs'))
    .map((file) => join('infra', file))
    .sort()
  return {
    label: 'infra',
    run: async () => {
      const args = ['--test', '--test-reporter=tap', ...files]
      const { code, output } = await capture(process.execPath, args, {
        cwd: ROOT,
        env: { ...process.env, ...env },
        timeoutMs: TIMEOUT_MS,
      })
      return { ...tapResult(code, output), output }
    },
  }
}

async function shell(script, cwd, env = {}) {
  const path = [join(cwd, 'node_modules', '.bin'), BIN, process.env.PATH].join(delimiter)
  return await capture('sh', ['-c', script], {
    cwd,
    env: { ...process.env, CI: 'true', ...env, PATH: path },
    timeoutMs: TIMEOUT_MS,
  })
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'))
}

function readIfThere(file) {
  try {
    return readJson(file)
  } catch {
    return undefined
  }
}
