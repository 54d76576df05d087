// `npm test`: every gate and every test, from nothing but Node and npm. The last line counts.
import { describeError, stopCommands } from '../packages/dev-env/src/processes/command.mjs'
import { onInterrupt } from './lib/interrupt.mjs'
import { requireNode } from './lib/node-version.mjs'
import { requirePlainPath } from './lib/plain-path.mjs'
import { createProgress, seconds } from './lib/progress.mjs'
import { ensurePrograms, REDIS, TEST_PROGRAMS } from './lib/system-packages.mjs'
import { installDependencies, loadCommands, ROOT, workspaceFolders } from './lib/workspace.mjs'

requireNode()
const beganAt = Date.now()
const step = createProgress({ tickMs: 30_000 })
onInterrupt((reason) => {
  console.error(`\n${reason}: stopping.`)
  stopCommands()
  process.exit(130)
})

/** @type {{ passed: number, failed: number, skipped: readonly string[] }} */
let results = { passed: 0, failed: 1, skipped: [] }
try {
  requirePlainPath()
  // First what a user may have to install, then what takes long.
  await ensurePrograms(process.env['TEST_REDIS_URL'] ? TEST_PROGRAMS : [REDIS, ...TEST_PROGRAMS], step)
  await installDependencies(step)
  const { test } = await loadCommands()
  results = await test({ root: ROOT, folders: workspaceFolders(), step, onInterrupt })
} catch (error) {
  console.log(`\n${describeError(error)}\n`)
}
if (results.skipped.length > 0) console.log(`\nSkipped:\n${results.skipped.map((name) => `  ${name}`).join('\n')}`)
console.log(`\nThat took ${seconds(Date.now() - beganAt)}.\n${results.passed} passed, ${results.failed} failed`)
process.exitCode = results.failed === 0 && results.passed > 0 ? 0 : 1
