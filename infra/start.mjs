// `npm start`: both services with everything they need, from nothing but Node and npm. With --watch, which is
// `pnpm dev`: from their sources, restarted on change. What is here has to run before dependencies are installed.
import { describeError, stopCommands } from '../packages/dev-env/src/processes/command.mjs'
import { dataDirectory, openDataDirectory } from './lib/data-directory.mjs'
import { onInterrupt } from './lib/interrupt.mjs'
import { acquireLock } from './lib/lock.mjs'
import { requireNode } from './lib/node-version.mjs'
import { requirePlainPath } from './lib/plain-path.mjs'
import { createProgress } from './lib/progress.mjs'
import { ensurePrograms, REDIS } from './lib/system-packages.mjs'
import { installDependencies, loadCommands, ROOT, workspaceFolders } from './lib/workspace.mjs'

requireNode()
// A closed terminal also closes these streams; the servers still have to be stopped.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

const beganAt = Date.now()
const fromSource = process.argv.includes('--watch')
const dataDir = dataDirectory()
const step = createProgress()
/** @type {Awaited<ReturnType<typeof acquireLock>> | undefined} */
let lock
onInterrupt((reason) => exit(`\n${reason}: stopping.`, 130))

try {
  if (!process.env['DATABASE_URL']) requirePlainPath()
  openDataDirectory(dataDir)
  lock = await acquireLock(dataDir, {
    onWait: (pid) => console.log(`Process ${pid} is still stopping; waiting for it.`),
  })
  // First what a user may have to install, then what takes long.
  if (!process.env['REDIS_URL']) await ensurePrograms([REDIS], step)
  await installDependencies(step)
  const { start } = await loadCommands()
  await start({ root: ROOT, folders: workspaceFolders(), fromSource, dataDir, step, beganAt, lock, onInterrupt })
} catch (error) {
  exit(`\n${describeError(error)}`, 1)
}

/** @param {string} reason @param {number} code */
function exit(reason, code) {
  console.error(reason)
  stopCommands()
  lock?.release()
  process.exit(code)
}
