import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type CommandResult, capture, Fault } from '../processes/command.mjs'
import { type ManagedProcess, startProcess } from '../processes/managed-process.ts'
import { stopLeftover } from '../processes/stop.mjs'

export const SERVICES = ['vault', 'tracker'] as const
export type ServiceName = (typeof SERVICES)[number]

/** The code of the services that is run: what was compiled, or the sources as they are. */
export type Code = {
  /** The repository. */
  root: string
  fromSource: boolean
}

/** Runs a part of the start, or of the tests, and reports it. `note` says how far it is while it runs. */
export type Step = <T>(label: string, work: () => Promise<T>, note?: () => string) => Promise<T>

/** The data directory, the ports, and servers to use instead of private ones. */
export type WorldOptions = {
  dataDir: string
  vaultPort: number
  trackerPort: number
  /** An administrator's URL; databases and roles are created on that server. */
  databaseUrl?: string | undefined
  redisUrl?: string | undefined
  /** Environment variables of each service, besides those that are decided here. */
  variables: Record<ServiceName, Record<string, string>>
  step: Step
  /** Tells the user something. */
  say: (text: string) => void
} & Code

/** A service, and the complete environment of its process. */
export type Service = {
  name: ServiceName
  code: Code
  env: Record<string, string>
}

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
const LOADER = fileURLToPath(new URL('../typescript.mjs', import.meta.url))

/** What Node needs to run TypeScript sources of the workspace, without a build. */
export const SOURCE_ARGUMENTS: readonly string[] = ['--import', LOADER]

/**
 * The arguments with which Node runs a TypeScript source of the workspace.
 *
 * @example
 * spawn(process.execPath, [...sourceArguments(join(root, 'services/vault/src/main.ts')), '--help'])
 */
export function sourceArguments(file: string): string[] {
  return [...SOURCE_ARGUMENTS, file]
}

/** What the script `start` of a service gives Node, as the image does: flags before the file. */
export function nodeFlagsOf(service: ServiceName): readonly string[] {
  const file = join(ROOT, 'services', service, 'package.json')
  const { scripts } = JSON.parse(readFileSync(file, 'utf8')) as { scripts: { start: string } }
  return scripts.start.split(' ').slice(1, -1)
}

/**
 * A module by the folder of its package and its path below `src`, as `services/vault` and `commands/migrate.command`; a
 * source, or what was compiled from it.
 */
export function moduleOf({ root, fromSource }: Code, folder: string, path: string): string {
  return join(root, folder, fromSource ? `src/${path}.ts` : `dist/${path}.js`)
}

/** The arguments with which Node runs such a module. */
function moduleArguments(code: Code, folder: string, path: string): string[] {
  const file = moduleOf(code, folder, path)
  return code.fromSource ? sourceArguments(file) : [file]
}

/** Those with which a test has Node run one: what `npm test` has just compiled, which starts in half the time, or the source. */
export function testedArguments(folder: string, path: string): string[] {
  return moduleArguments({ root: ROOT, fromSource: process.env['TEST_COMPILED'] === undefined }, folder, path)
}

/** What Node runs a module of a service with: of our own environment only PATH. */
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

/**
 * Brings the database of a service to the newest schema, as its owner.
 *
 * @throws {Fault} when a migration fails, with what it wrote
 */
export async function migrateService(service: Service): Promise<void> {
  const { code, output } = await runServiceCommand(service, 'commands/migrate.command')
  if (code !== 0) throw new Fault(`the migrations of the ${service.name} failed:\n${output}`)
}

/** Where a service of a data directory notes its process, and where its log is. */
export function servicePaths(
  dataDir: string,
  name: ServiceName | `${ServiceName}-web`,
): { pidFile: string; logFile: string } {
  for (const folder of ['services', 'logs']) mkdirSync(join(dataDir, folder), { recursive: true, mode: 0o700 })
  return { pidFile: join(dataDir, 'services', `${name}.json`), logFile: join(dataDir, 'logs', `${name}.log`) }
}

/** Stops services that an earlier run in this data directory could not stop. @returns whether there were any */
export async function stopLeftoverServices(dataDir: string): Promise<boolean> {
  const stopped = await Promise.all(SERVICES.map((name) => stopLeftover(servicePaths(dataDir, name).pidFile)))
  return stopped.includes(true)
}

/** Starts a service and returns when it says that it is ready. */
export async function startService(service: Service, dataDir: string, url: string): Promise<ManagedProcess> {
  const { name, code } = service
  return await startProcess({
    name,
    command: process.execPath,
    ...invocation(service, 'main'),
    cwd: join(code.root, 'services', name),
    ...servicePaths(dataDir, name),
    // The service stops within ten seconds; after that it hangs.
    stopSignal: 'SIGTERM',
    graceMs: 12_000,
    phase: 0,
    answers: () => answersReady(url),
  })
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
