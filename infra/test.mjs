// `npm test`: every gate and every test, from nothing but Node and npm. The last line counts.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadDevEnv } from './lib/bootstrap.mjs'
import { build } from './lib/build.mjs'
import { stopCommands } from './lib/command.mjs'
import { dependenciesAreCurrent, installDependencies } from './lib/dependencies.mjs'
import { Fault } from './lib/fault.mjs'
import { requireNode } from './lib/node-version.mjs'
import { createProgress, seconds } from './lib/progress.mjs'
import { watchParent } from './lib/shutdown.mjs'
import { CLIENTS, ensurePrograms, REDIS } from './lib/system-packages.mjs'
import { result, sum } from './lib/test-results.mjs'
import { gateSteps, packageSteps, scriptStep } from './lib/test-steps.mjs'

requireNode()
const began = Date.now()
const progress = createProgress({ tickMs: 30_000 })
const results = []
const workDir = mkdtempSync(join(tmpdir(), 'npm-test-'))
let devEnv

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => void interrupt(name))
watchParent(() => void interrupt('npm is gone'))

if (await attempt(prepare)) {
  for (const gate of gateSteps()) await runStep(gate)
  await attempt(runTests)
}
rmSync(workDir, { recursive: true, force: true })
const { passed, failed } = sum(results)
console.log(`\nThat took ${seconds(Date.now() - began)}.\n${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1

async function prepare() {
  // First what a user may have to do by hand, then what takes long.
  await ensurePrograms(process.env.TEST_REDIS_URL ? CLIENTS : [REDIS, ...CLIENTS], progress)
  if (!dependenciesAreCurrent()) await progress('dependencies installed', installDependencies)
}

async function runTests() {
  await progress('built', build)
  devEnv = await loadDevEnv()
  const servers = await progress('Postgres and Redis', () => devEnv.startTestServers())
  try {
    const env = { TEST_DATABASE_URL: servers.run.adminUrl, TEST_REDIS_URL: servers.run.redisUrl }
    for (const one of [scriptStep(env), ...packageSteps(env, workDir)]) await runStep(one)
  } finally {
    await servers.stop()
  }
}

/** Runs a gate or a package's tests; what a failed one wrote is shown in full, what a passed one wrote is not. */
async function runStep({ label, run }) {
  try {
    await progress(label, async () => {
      const outcome = await run()
      results.push(outcome)
      if (outcome.failed > 0) throw new Fault(outcome.output)
      return outcome.passed === 1 ? '' : `${outcome.passed} passed`
    })
  } catch (error) {
    console.log(`\n${error instanceof Fault ? error.message.trimEnd() : error.stack}\n`)
    if (!(error instanceof Fault)) results.push(result(0, 1))
  }
}

/** Runs what the rest depends on; when it fails, that is one failure, and the rest is left out. */
async function attempt(work) {
  try {
    await work()
    return true
  } catch (error) {
    console.log(`\n${error instanceof Fault ? error.message : error.stack}\n`)
    results.push(result(0, 1))
    return false
  }
}

async function interrupt(reason) {
  console.error(`\n${reason}: stopping.`)
  stopCommands()
  await devEnv?.stopAll()
  rmSync(workDir, { recursive: true, force: true })
  process.exit(130)
}
