// `npm test`: every gate and every test, from nothing but Node and npm. The last line counts.
import { describeError, stopCommands } from '../packages/dev-env/src/processes/command.mjs'
import { onInterrupt } from './lib/interrupt.mjs'
import { requireNode } from './lib/node-version.mjs'
import { createProgress, seconds } from './lib/progress.mjs'
import { ensurePrograms, REDIS, TEST_PROGRAMS } from './lib/system-packages.mjs'
import { build, installDependencies, loadCommands, ROOT, workspaceFolders } from './lib/workspace.mjs'

requireNode()
const beganAt = Date.now()
const step = createProgress({ tickMs: 30_000 })
/** @type {(reason: string) => void} */
let interrupt = (reason) => {
  console.error(`\n${reason}: stopping.`)
  stopCommands()
  process.exit(130)
}
onInterrupt((reason) => interrupt(reason))

const results = { passed: 0, failed: 0 }
const isReady = await attempt(async () => {
  // First what a user may have to install, then what takes long.
  await ensurePrograms(process.env['TEST_REDIS_URL'] ? TEST_PROGRAMS : [REDIS, ...TEST_PROGRAMS], step)
  await installDependencies(step)
})
if (isReady) {
  // The compiler writes its output in spite of type errors, so the gates and tests can still run.
  await attempt(() => step('built', build))
  await attempt(async () => {
    const { test } = await loadCommands({ fromSource: false })
    const folders = workspaceFolders()
    const { passed, failed } = await test({
      root: ROOT,
      folders,
      step,
      onInterrupt: (handler) => (interrupt = handler),
    })
    results.passed += passed
    results.failed += failed
  })
}
console.log(`\nThat took ${seconds(Date.now() - beganAt)}.\n${results.passed} passed, ${results.failed} failed`)
process.exitCode = results.failed === 0 && results.passed > 0 ? 0 : 1

/** Runs a step that the rest depends on. Its failure counts as one. @param {() => Promise<void>} work */
async function attempt(work) {
  try {
    await work()
    return true
  } catch (error) {
    console.log(`\n${describeError(error)}\n`)
    results.failed += 1
    return false
  }
}
