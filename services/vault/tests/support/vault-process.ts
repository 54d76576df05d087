import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, freePort, type ManagedProcess, startProcess, testedArguments } from '@vault-and-tracker/dev-env'
import { vaultEnv } from './vault.ts'

/** The service as a separate process. */
export type VaultProcess = { url: string; port: number; process: ManagedProcess; log(): string }

/** How to start the service. With a fixed port, a request signed for one process is valid for the next. */
export type VaultProcessOptions = {
  folder: string
  databaseUrl: string
  redisUrl: string
  port?: number
  env?: Record<string, string>
}

/** Starts the service without waiting until it is ready. */
export async function spawnVaultProcess(options: VaultProcessOptions): Promise<VaultProcess> {
  const port = options.port ?? (await freePort())
  const logFile = join(options.folder, `vault-${port}.log`)
  const process = await startProcess({
    name: 'vault',
    command: globalThis.process.execPath,
    args: testedArguments('services/vault', 'main'),
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

/** Starts the service, and waits until it is ready. */
export async function startVaultProcess(options: VaultProcessOptions): Promise<VaultProcess> {
  const vault = await spawnVaultProcess(options)
  await eventually(async () => {
    if (!vault.process.isRunning()) throw new Error(`the vault ended while starting:\n${vault.log()}`)
    return (await statusOf(`${vault.url}/ready`)) === 200
  })
  return vault
}

/** The status of a response, undefined without one. */
export async function statusOf(url: string): Promise<number | undefined> {
  try {
    const response = await fetch(url)
    await response.body?.cancel()
    return response.status
  } catch {
    return undefined
  }
}

/** The result of a process. */
export type Outcome = { status: number | null; stdout: string; stderr: string }

/** Starts a program of the service, such as `commands/keyring.command`. */
export function startProgram(
  script: string,
  args: string[],
  env: Record<string, string>,
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [...testedArguments('services/vault', script), ...args], {
    env: { PATH: process.env['PATH'], ...env },
  })
}

/** Runs a program of the service to its end. */
export async function runProgram(script: string, args: string[], env: Record<string, string>): Promise<Outcome> {
  const child = startProgram(script, args, env)
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, stdout, stderr }
}
