import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type CommandResult, capture, Fault } from '../processes/command.mjs'
import { type ManagedProcess, startProcess } from '../processes/managed-process.ts'
import { stopLeftover } from '../processes/stop.mjs'

export const SERVICES = ['vault', 'tracker'] as const
export type ServiceName = (typeof SERVICES)[number]

/** The code to run: the compiled services in the repository `root`, or their sources. */
export type Code = { root: string; fromSource: boolean }

/** Runs a part of the start and reports it. */
export type Step = <T>(label: string, work: () => Promise<T>) => Promise<T>

/** The data directory, the ports, and servers to use instead of private ones. */
export type WorldOptions = {
  dataDir: string
  vaultPort: number
  trackerPort: number
  /** An administrator's URL; databases and roles are created on that server. */
  databaseUrl?: string | undefined
  redisUrl?: string | undefined
  /** The user's settings for each service. */
  variables: Record<ServiceName, Record<string, string>>
  step: Step
  say: (text: string) => void
} & Code

/** A service, with the complete environment of its process. */
export type Service = { name: ServiceName; code: Code; env: Record<string, string> }

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
const LOADER = fileURLToPath(new URL('../typescript.mjs', import.meta.url))

/** The arguments with which Node runs TypeScript sources of the workspace. */
export const SOURCE_ARGUMENTS: readonly string[] = ['--import', LOADER]

/** The same for one file: `spawn(process.execPath, [...sourceArguments(file), '--help'])`. */
export function sourceArguments(file: string): string[] {
  return [...SOURCE_ARGUMENTS, file]
}

/** Node's flags in the `start` script of a service, which the image uses too. */
export function nodeFlagsOf(service: ServiceName): readonly string[] {
  const file = join(ROOT, 'services', service, 'package.json')
  const { scripts } = JSON.parse(readFileSync(file, 'utf8')) as { scripts: { start: string } }
  return scripts.start.split(' ').slice(1, -1)
}

/** The file of a module, for example `moduleOf(code, 'services/vault', 'commands/migrate.command')`. */
export function moduleOf({ root, fromSource }: Code, folder: string, path: string): string {
  return join(root, folder, fromSource ? `src/${path}.ts` : `dist/${path}.js`)
}

function moduleArguments(code: Code, folder: string, path: string): string[] {
  const file = moduleOf(code, folder, path)
  return code.fromSource ? sourceArguments(file) : [file]
}

/** Node's arguments for a module in tests. `npm test` has just compiled it, which halves its start; otherwise the source runs. */
export function testedArguments(folder: string, path: string): string[] {
  return moduleArguments({ root: ROOT, fromSource: process.env['TEST_COMPILED'] === undefined }, folder, path)
}

function invocation({ name, code, env }: Service, path: string): { args: string[]; env: NodeJS.ProcessEnv } {
  return {
    args: moduleArguments(code, `services/${name}`, path),
    env: { PATH: process.env['PATH'], TZ: 'UTC', ...env },
  }
}

/** Runs a command of a service to its end. */
export async function runServiceCommand(
  service: Service,
  module: string,
  given: string[] = [],
  stdin = '',
): Promise<CommandResult> {
  const { args, env } = invocation(service, module)
  return await capture(process.execPath, [...args, ...given], { env, stdin })
}

/** Migrates the database of a service as its owner. @throws {Fault} with the output of a failed migration */
export async function migrateService(service: Service): Promise<void> {
  const { code, output } = await runServiceCommand(service, 'commands/migrate.command')
  if (code !== 0) throw new Fault(`the migrations of the ${service.name} failed:\n${output}`)
}

/** The files in a data directory with the note and the log of a service. */
export function servicePaths(
  dataDir: string,
  name: ServiceName | `${ServiceName}-web`,
): { pidFile: string; logFile: string } {
  for (const folder of ['services', 'logs']) mkdirSync(join(dataDir, folder), { recursive: true, mode: 0o700 })
  return { pidFile: join(dataDir, 'services', `${name}.json`), logFile: join(dataDir, 'logs', `${name}.log`) }
}

/** Stops services that an earlier run in this data directory left running. @returns whether there were any */
export async function stopLeftoverServices(dataDir: string): Promise<boolean> {
  const stopped = await Promise.all(SERVICES.map((name) => stopLeftover(servicePaths(dataDir, name).pidFile)))
  return stopped.includes(true)
}

/** Starts a service and returns when it is ready. */
export async function startService(service: Service, dataDir: string, url: string): Promise<ManagedProcess> {
  const { name, code } = service
  return await startProcess({
    name,
    command: process.execPath,
    ...invocation(service, 'main'),
    cwd: join(code.root, 'services', name),
    ...servicePaths(dataDir, name),
    // The service stops within ten seconds, unless it hangs.
    stopSignal: 'SIGTERM',
    graceMs: 12_000,
    phase: 0,
    answers: () => answersReady(url),
  })
}

/** Whether a service is ready. */
export async function answersReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/ready`, { signal: AbortSignal.timeout(5000) })
    await response.body?.cancel()
    return response.status === 200
  } catch {
    return false
  }
}
