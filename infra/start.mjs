// `npm start`: both services with everything they need, from nothing but Node and npm.
import { banner } from './lib/banner.mjs'
import { bootstrap, loadDevEnv } from './lib/bootstrap.mjs'
import { stopCommands } from './lib/command.mjs'
import { Fault } from './lib/fault.mjs'
import { acquireLock } from './lib/lock.mjs'
import { requireNode } from './lib/node-version.mjs'
import { openDataDirectory, ROOT } from './lib/paths.mjs'
import { requireFreePorts, stopLeftoverServices } from './lib/ports.mjs'
import { createProgress } from './lib/progress.mjs'
import { readSettings } from './lib/settings.mjs'
import { createShutdown, watchParent } from './lib/shutdown.mjs'
import { ensurePrograms, REDIS } from './lib/system-packages.mjs'

requireNode()
// A terminal that is closed takes its pipe with it; we still have servers to stop.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
const say = (text) => console.error(text)

let lock
let devEnv
let ready = false

const ending = createShutdown({
  say,
  stop: async () => {
    lock?.stopping()
    stopCommands()
    return (await devEnv?.stopAll()) ?? []
  },
  isReady: () => ready,
  kill: async () => await devEnv?.killAll(),
  exit: (code) => {
    lock?.release()
    process.exit(code)
  },
})
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => void ending.onSignal(name))
watchParent(() => void ending.shutdown('npm is gone: stopping.', 1))

try {
  await start()
} catch (error) {
  // What fails because everything is being stopped is no news.
  if (ending.running) await ending.shutdown(`\n${error instanceof Fault ? error.message : error.stack}`, 1)
}

async function start() {
  const began = Date.now()
  const step = createProgress()
  const settings = readSettings()
  const { dataDir } = settings
  openDataDirectory(dataDir)
  lock = await acquireLock(dataDir, {
    onWait: (pid) => console.log(`Process ${pid} is still stopping; waiting for it.`),
  })
  if (await stopLeftoverServices(dataDir)) console.log('The last run was cut off; its services have been stopped.')
  await requireFreePorts(settings)
  // First what a user may have to do by hand, then what takes long.
  if (settings.redisUrl === undefined) await ensurePrograms([REDIS], step)
  await bootstrap(step)
  devEnv = await loadDevEnv()
  if (!ending.running) return
  const world = await devEnv.startWorld({ ...settings, root: ROOT, step })
  world.onFailure((name, logTail) => {
    if (ending.running) void ending.shutdown(`\n${name} ended by itself. The last it wrote:\n\n${logTail}\n`, 1)
  })
  ready = true
  console.log(`${banner(world.demo, dataDir)}\nReady after ${((Date.now() - began) / 1000).toFixed(1)} s.`)
  // Everything we started is independent of our event loop; this keeps us here until a signal comes.
  setInterval(() => {}, 2 ** 30)
}
