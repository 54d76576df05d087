import { join } from 'node:path'
import { type CommandResult, capture, Fault } from '../processes/command.mjs'
import { sourceArguments } from '../processes/source.ts'
import type { Code } from './options.ts'
import type { ServiceName } from './plan.ts'

/** A command of a service, such as its migrations. */
export interface ServiceCommand {
  code: Code
  service: ServiceName
  /** Relative to the service's sources, without an extension: `commands/migrate.command`. */
  module: string
  args?: string[]
  env: Record<string, string>
  stdin?: string
}

/** The arguments with which Node runs a module of a service. */
export function serviceArguments({ root, fromSource }: Code, service: ServiceName, module: string): string[] {
  const folder = join(root, 'services', service)
  return fromSource ? sourceArguments(join(folder, 'src', `${module}.ts`)) : [join(folder, 'dist', `${module}.js`)]
}

/** Runs such a command to its end. */
export async function runCommand({
  code,
  service,
  module,
  args = [],
  env,
  stdin = '',
}: ServiceCommand): Promise<CommandResult> {
  return await capture(process.execPath, [...serviceArguments(code, service, module), ...args], {
    env: serviceEnv(env),
    stdin,
  })
}

/** The environment of a service's process: of our own only PATH. */
export function serviceEnv(env: Record<string, string>): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], TZ: 'UTC', ...env }
}

/**
 * Brings the database of a service to the newest schema, as its owner.
 *
 * @throws {Fault} when a migration fails, with what it wrote
 */
export async function migrateService(options: {
  code: Code
  service: ServiceName
  ownerUrl: string
  appRole: string
}): Promise<void> {
  const { code, service, ownerUrl, appRole } = options
  const env = { MIGRATION_DATABASE_URL: ownerUrl, RUNTIME_ROLE: appRole }
  const result = await runCommand({ code, service, module: 'commands/migrate.command', env })
  if (result.code !== 0) throw new Fault(`the migrations of the ${service} failed:\n${result.output}`)
}
