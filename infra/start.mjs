// `npm start`: both services with everything they need, given only Node and npm. With --watch (`pnpm dev`) it runs the
// sources and restarts on changes. This file runs before dependencies are installed.
import { chmodSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describeError, stopCommands } from '../packages/dev-env/src/processes/command.mjs'
import { requireProgram } from '../packages/dev-env/src/processes/programs.mjs'
import { onInterrupt } from './lib/interrupt.mjs'
import { acquireLock } from './lib/lock.mjs'
import { requireNode, requirePlainPath } from './lib/preflight.mjs'
import { createProgress } from './lib/progress.mjs'
import { installDependencies, loadCommands, ROOT, workspaceFolders } from './lib/workspace.mjs'

const NO_REDIS = ' (or brew install redis), set REDIS_URL to a Redis you have, or use docker compose up instead'

// A closed terminal closes these streams too, and the servers still have to be stopped.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

const { DATA_DIR, INIT_CWD = process.cwd(), DATABASE_URL, REDIS_URL } = process.env
/** Relative to the folder in which npm was called. */
const dataDir = DATA_DIR ? resolve(INIT_CWD, DATA_DIR) : join(ROOT, '.data')
const beganAt = Date.now()
const fromSource = process.argv.includes('--watch')
const step = createProgress()
/** @type {Awaited<ReturnType<typeof acquireLock>> | undefined} */
let lock
onInterrupt((reason) => exit(`\n${reason}: stopping.`, 130))

try {
  requireNode()
  if (!DATABASE_URL) requirePlainPath()
  // Root lets other users enter the folder, because its Postgres runs as another user. Each secret in it has its own mode.
  if (mkdirSync(dataDir, { recursive: true })) chmodSync(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700)
  lock = await acquireLock(dataDir, {
    onWait: (pid) => console.log(`Process ${pid} is still stopping; waiting for it.`),
  })
  // First the programs that the user may have to install, then the slow steps.
  if (!REDIS_URL) await requireProgram('redis-server', { otherwise: NO_REDIS })
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
