import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { ServiceName } from './plan.ts'

/** How a command of a service ended and what it said. */
export interface CommandResult {
  code: number
  stdout: string
  stderr: string
}

/** A command that a service brings along, such as its migrations. */
export interface ServiceCommand {
  root: string
  service: ServiceName
  /** Below the service's `dist`. */
  script: string
  args?: string[]
  env: Record<string, string>
  stdin?: string
}

/** Runs such a command to its end. */
export async function runCommand({ root, service, script, args, env, stdin }: ServiceCommand): Promise<CommandResult> {
  const file = join(root, 'services', service, 'dist', script)
  const child = spawn(process.execPath, [file, ...(args ?? [])], {
    env: { PATH: process.env['PATH'], TZ: 'UTC', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => void stdout.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => void stderr.push(chunk))
  // A command that ends without reading its input is no reason to end with it.
  child.stdin.on('error', () => undefined)
  child.stdin.end(stdin ?? '')
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status) => resolve(status ?? 1))
  })
  return { code, stdout: Buffer.concat(stdout).toString('utf8'), stderr: Buffer.concat(stderr).toString('utf8') }
}

/** Brings the database of a service to the newest schema, as its owner. */
export async function migrateService(options: {
  root: string
  service: ServiceName
  ownerUrl: string
  appRole: string
}): Promise<void> {
  const { root, service, ownerUrl, appRole } = options
  const env = { MIGRATION_DATABASE_URL: ownerUrl, RUNTIME_ROLE: appRole }
  const { code, stdout, stderr } = await runCommand({ root, service, script: 'commands/migrate.command.js', env })
  if (code !== 0) throw new Error(`the migrations of the ${service} failed:\n${stdout}${stderr}`)
}
