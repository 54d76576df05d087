import { describeError, Fault } from '../processes/command.mjs'
import { killAll, stopAll } from '../processes/managed-process.ts'
import { portProblem } from '../processes/ports.ts'
import type { WorldOptions } from '../world/options.ts'
import { SERVICES } from '../world/plan.ts'
import { stopLeftoverServices } from '../world/services.ts'
import { watchWebApplication } from '../world/web-build.ts'
import { startWorld } from '../world/world.ts'
import { banner } from './banner.ts'
import { restartOnChange } from './restart-on-change.ts'
import { readSettings, type Settings } from './settings.ts'
import { createShutdown } from './shutdown.ts'

/** What `infra/start.mjs` passes once dependencies are installed. */
export interface StartOptions extends Pick<WorldOptions, 'root' | 'fromSource' | 'dataDir' | 'step'> {
  /** When the user started it, in milliseconds. */
  beganAt: number
  /** The lock of the data directory. */
  lock: { stopping(): void; release(): void }
  /** Sets what happens on a signal, or when npm has ended. */
  onInterrupt: (handler: (reason: string) => void) => void
}

/**
 * `npm start`: both services with everything they need, until a signal comes. From their sources (`pnpm dev`) they are
 * restarted on change, and the web application is built on change; a service that ends by itself is started again at the
 * next change.
 */
export async function start(options: StartOptions): Promise<void> {
  const { root, fromSource, dataDir, lock, beganAt } = options
  let isReady = false
  const ending = createShutdown({
    say: (text) => console.error(text),
    stop: async () => {
      lock.stopping()
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
  const fail = (name: string, logTail: string): void => {
    if (!ending.isRunning) return
    void ending.shutdown(`\n${name} ended unexpectedly. The end of its log:\n\n${logTail}\n`, 1)
  }
  try {
    const settings = await readSettings(process.env, options)
    if (await stopLeftoverServices(dataDir)) {
      console.log('The last run was interrupted; its services have been stopped.')
    }
    await requireFreePorts(settings)
    if (fromSource) await options.step('web application', () => watchWebApplication(options))
    const world = await startWorld({ ...options, ...settings })
    world.onServerFailure(fail)
    if (fromSource) restartOnChange(world, options, () => ending.isRunning)
    else for (const name of SERVICES) world.services[name].onUnexpectedExit((_exit, logTail) => fail(name, logTail))
    isReady = true
    console.log(
      `${banner(world.demo, { root, dataDir })}\nReady after ${((Date.now() - beganAt) / 1000).toFixed(1)} s.`,
    )
    // Started processes do not keep the event loop running; this does, until a signal comes.
    setInterval(() => undefined, 2 ** 30)
  } catch (error) {
    // An error during the stop is a consequence of it.
    if (ending.isRunning) await ending.shutdown(`\n${describeError(error)}`, 1)
  }
}

/**
 * Makes sure that the services can listen on their ports.
 *
 * @throws {Fault} naming the variables to set
 */
export async function requireFreePorts({
  vaultPort,
  trackerPort,
}: Pick<Settings, 'vaultPort' | 'trackerPort'>): Promise<void> {
  const check = async (who: string, variable: string, port: number): Promise<string[]> => {
    const problem = await portProblem(port)
    if (problem === undefined) return []
    return [`The ${who} cannot listen on port ${port}: ${problem}. Set ${variable} to another port.`]
  }
  const problems = [
    ...(await check('vault', 'VAULT_PORT', vaultPort)),
    ...(await check('tracker', 'TRACKER_PORT', trackerPort)),
  ]
  if (problems.length > 0) throw new Fault(problems.join('\n'))
}
