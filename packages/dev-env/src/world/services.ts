import { mkdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { stopLeftover } from '../processes/leftovers.mjs'
import { type ManagedProcess, startProcess, untilAnswering } from '../processes/managed-process.ts'
import { type RestartableProcess, restartable } from '../processes/restartable.ts'
import type { Code } from './options.ts'
import type { ServiceName } from './plan.ts'
import { serviceArguments, serviceEnv } from './service-command.ts'

const MAX_LOG_BYTES = 10 * 1024 * 1024

/** What is needed to run a service. */
export interface ServiceOptions {
  name: ServiceName
  code: Code
  dataDir: string
  /** The complete environment of the service. */
  env: Record<string, string>
  url: string
}

/** Where a service of a data directory notes its process. */
function servicePidFile(dataDir: string, name: ServiceName): string {
  return join(dataDir, 'services', `${name}.json`)
}

/**
 * Stops services that an earlier run in this data directory could not stop.
 *
 * @returns whether there were any
 */
export async function stopLeftoverServices(dataDir: string): Promise<boolean> {
  const stopped = await Promise.all([
    stopLeftover(servicePidFile(dataDir, 'vault')),
    stopLeftover(servicePidFile(dataDir, 'tracker')),
  ])
  return stopped.includes(true)
}

/** Starts a service and returns when it says that it is ready. */
export async function startService(options: ServiceOptions): Promise<RestartableProcess> {
  const start = (): Promise<ManagedProcess> => startOnce(options)
  return restartable(await start(), start)
}

async function startOnce({ name, code, dataDir, env, url }: ServiceOptions): Promise<ManagedProcess> {
  const pidFile = servicePidFile(dataDir, name)
  mkdirSync(join(dataDir, 'services'), { recursive: true, mode: 0o700 })
  mkdirSync(join(dataDir, 'logs'), { recursive: true, mode: 0o700 })
  await stopLeftover(pidFile)
  const logFile = join(dataDir, 'logs', `${name}.log`)
  rotate(logFile)
  const service = await startProcess({
    name,
    command: process.execPath,
    args: serviceArguments(code, name, 'main'),
    env: serviceEnv(env),
    cwd: join(code.root, 'services', name),
    logFile,
    pidFile,
    // The service stops within ten seconds; after that it hangs.
    stopSignal: 'SIGTERM',
    graceMs: 12_000,
    phase: 0,
  })
  return await untilAnswering(service, () => answersReady(url))
}

/** One generation of an old log is kept. */
function rotate(logFile: string): void {
  if ((statSync(logFile, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES) renameSync(logFile, `${logFile}.1`)
}

/** Whether a service says that it is ready. */
export async function answersReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/ready`, { signal: AbortSignal.timeout(5000) })
    await response.body?.cancel()
    return response.status === 200
  } catch {
    return false
  }
}
