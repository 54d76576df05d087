import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, freePort, type ManagedProcess, startProcess } from '@vault-and-tracker/dev-env'
import { vaultEnv } from './vault.ts'

const MAIN = join(import.meta.dirname, '../../dist/main.js')

/** The built service as a process of its own, as it runs in production. */
export type Service = { url: string; port: number; process: ManagedProcess; log(): string }

/** What to run. A port can be given again, so that a request signed for one process fits the next. */
export type ServiceOptions = {
  folder: string
  databaseUrl: string
  redisUrl: string
  port?: number
  env?: Record<string, string>
}

/** Starts the service without waiting until it is ready. */
export async function spawnService(options: ServiceOptions): Promise<Service> {
  const port = options.port ?? (await freePort())
  const logFile = join(options.folder, `vault-${port}.log`)
  const process = await startProcess({
    name: 'vault',
    command: globalThis.process.execPath,
    args: [MAIN],
    env: { ...vaultEnv(options, { LOG_LEVEL: 'info', ...options.env }), PORT: String(port) },
    cwd: options.folder,
    logFile,
    pidFile: join(options.folder, `vault-${port}.json`),
    stopSignal: 'SIGTERM',
    graceMs: 12_000,
    phase: 0,
  })
  return { url: `http://127.0.0.1:${port}`, port, process, log: () => readFileSync(logFile, 'utf8') }
}

/** Starts the service and waits until it is ready. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const service = await spawnService(options)
  await eventually(async () => {
    if (!service.process.isRunning()) throw new Error(`the vault ended while starting:\n${service.log()}`)
    return (await statusOf(`${service.url}/ready`)) === 200
  })
  return service
}

/** The status of an answer, undefined when there is none. */
export async function statusOf(url: string): Promise<number | undefined> {
  try {
    const response = await fetch(url)
    await response.body?.cancel()
    return response.status
  } catch {
    return undefined
  }
}
