import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const SERVICE = dirname(dirname(import.meta.dirname))
const run = promisify(execFile)

/** What a finished process left. */
export type Outcome = { status: number | null; stdout: string; stderr: string }

/** A vault in a process of its own, as in production. */
export type VaultProcess = {
  url: string
  pid: number
  output: () => string
  signal(signal: NodeJS.Signals): void
  exit: Promise<{ status: number | null; signal: NodeJS.Signals | null }>
}

/** Compiles the service and what it needs; quick when nothing has changed. */
export async function build(): Promise<void> {
  const typescript = createRequire(join(SERVICE, '../../package.json')).resolve('typescript/bin/tsc')
  await run(process.execPath, [typescript, '-b', join(SERVICE, 'tsconfig.build.json')], { env: nodeEnv({}) })
  if (!existsSync(join(SERVICE, 'dist/main.js'))) throw new Error('the build left no dist/main.js')
}

function nodeEnv(env: Record<string, string>): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', ...env }
}

/** Runs a command of the service to its end. */
export async function command(script: string, args: string[], env: Record<string, string>): Promise<Outcome> {
  const child = spawn(process.execPath, [join(SERVICE, 'dist', script), ...args], { env: nodeEnv(env) })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, stdout, stderr }
}

/** Starts the service and waits until it listens. */
export async function startProcess(env: Record<string, string>): Promise<VaultProcess> {
  const child = spawn(process.execPath, [join(SERVICE, 'dist/main.js')], {
    env: nodeEnv({ ...env, LOG_LEVEL: 'info' }),
  })
  let output = ''
  const port = new Promise<number>((resolve, reject) => {
    const look = (chunk: Buffer) => {
      output += chunk.toString()
      const found = /"port":(\d+)/.exec(output)?.[1]
      if (found !== undefined) resolve(Number(found))
    }
    child.stdout.on('data', look)
    child.stderr.on('data', look)
    child.once('close', () => reject(new Error(`the vault ended before it listened: ${output}`)))
  })
  const exit = new Promise<{ status: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('close', (status, signal) => resolve({ status, signal }))
  })
  return {
    url: `http://127.0.0.1:${String(await port)}`,
    pid: child.pid ?? 0,
    output: () => output,
    signal: (signal) => void child.kill(signal),
    exit,
  }
}
