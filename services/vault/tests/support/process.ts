import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const SERVICE = dirname(dirname(import.meta.dirname))
const run = promisify(execFile)

/** What a finished process left. */
export type Outcome = { status: number | null; stdout: string; stderr: string }

/** Compiles the service and what it needs; quick when nothing has changed. */
export async function build(): Promise<void> {
  const typescript = createRequire(join(SERVICE, '../../package.json')).resolve('typescript/bin/tsc')
  await run(process.execPath, [typescript, '-b', join(SERVICE, 'tsconfig.build.json')], { env: nodeEnv({}) })
  if (!existsSync(join(SERVICE, 'dist/main.js'))) throw new Error('the build left no dist/main.js')
}

function nodeEnv(env: Record<string, string>): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', ...env }
}

/** Starts a command of the service. */
export function start(script: string, args: string[], env: Record<string, string>): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [join(SERVICE, 'dist', script), ...args], { env: nodeEnv(env) })
}

/** Runs a command of the service to its end. */
export async function command(script: string, args: string[], env: Record<string, string>): Promise<Outcome> {
  const child = start(script, args, env)
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, stdout, stderr }
}
