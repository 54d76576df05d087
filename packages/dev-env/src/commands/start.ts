import { describeError, Fault } from '../processes/command.mjs'
import { killAll, type ManagedProcess, stopAll } from '../processes/managed-process.ts'
import { portProblem } from '../processes/ports.ts'
import { type BuildOptions, build, watchWebApplications } from '../world/build.ts'
import { startDemoClients } from '../world/demo-clients.ts'
import { SERVICES, stopLeftoverServices, type WorldOptions } from '../world/services.ts'
import { startWorld } from '../world/world.ts'
import { banner } from './banner.ts'
import { restartOnChange } from './restart-on-change.ts'
import { ignoredSettings, readSettings, type Settings } from './settings.ts'
import { createShutdown } from './shutdown.ts'

/** The options from `infra/start.mjs`. */
export type StartOptions = BuildOptions &
  Pick<WorldOptions, 'fromSource' | 'dataDir' | 'step'> & {
    /** When the user started it, in milliseconds. */
    beganAt: number
    /** The lock of the data directory. */
    lock: { stopping(): void; release(): void }
    /** Sets the handler for a signal or the end of npm. */
    onInterrupt: (handler: (reason: string) => void) => void
  }

/**
 * `npm start`: both services with everything they need, until a signal arrives. With `fromSource` (`pnpm dev`) services
 * restart and web applications are built again on changes, and a service that ends is started again at the next change.
 */
export async function start(options: StartOptions): Promise<void> {
  const { root, fromSource, dataDir, lock, beganAt } = options
  let isReady = false
  const clients = new AbortController()
  const ending = createShutdown({
    say: (text) => console.error(text),
    stop: async () => {
      lock.stopping()
      clients.abort()
      return await stopAll()
    },
    isReady: () => isReady,
    kill: killAll,
    exit: (code) => {
      lock.release()
      process.exit(code)
    },
  })
  options.onInterrupt((reason) => void ending.interrupt(reason))
  const endWith = (one: ManagedProcess): void =>
    one.onUnexpectedExit((_exit, logTail) => {
      void ending.shutdown(`\n${one.name} ended unexpectedly. The end of its log:\n\n${logTail}\n`, 1)
    })
  try {
    if (!fromSource) await options.step('built', () => build(options))
    const settings = await readSettings(process.env, options)
    for (const sentence of ignoredSettings(process.env)) console.log(sentence)
    if (await stopLeftoverServices(dataDir))
      console.log('The last run was interrupted. Its services have been stopped.')
    await requireFreePorts(settings)
    if (fromSource) await options.step('web applications', () => watchWebApplications(options))
    const world = await startWorld({ ...options, ...settings, say: (text) => console.log(text) })
    world.servers.forEach(endWith)
    if (fromSource) await restartOnChange(world, options, () => ending.isRunning)
    else Object.values(world.services).forEach(endWith)
    isReady = true
    console.log(
      `${banner(world.demo, { root, dataDir })}\nReady after ${((Date.now() - beganAt) / 1000).toFixed(1)} s.`,
    )
    await startDemoClients(world.demo.tracker.url, world.swarms, clients.signal)
    // Started processes do not keep the event loop running. This does, until a signal arrives.
    setInterval(() => undefined, 2 ** 30)
  } catch (error) {
    // An error during the stop is a consequence of it.
    if (ending.isRunning) await ending.shutdown(`\n${describeError(error)}`, 1)
  }
}

/** @throws {Fault} naming the variables to set, if the services cannot listen on their ports */
export async function requireFreePorts(ports: Pick<Settings, 'vaultPort' | 'trackerPort'>): Promise<void> {
  const problems: string[] = []
  for (const name of SERVICES) {
    const port = ports[`${name}Port`]
    const problem = await portProblem(port)
    if (problem === undefined) continue
    problems.push(
      `The ${name} cannot listen on port ${port}: ${problem}. Set ${name.toUpperCase()}_PORT to another port.`,
    )
  }
  if (problems.length > 0) throw new Fault(problems.join('\n'))
}
