import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { killTree } from '../../packages/dev-env/reaper/stop.mjs'
import { Fault } from './fault.mjs'

/** Where a program is, or undefined when this machine has none of that name. */
export function findProgram(name, path = process.env.PATH ?? '') {
  // Debian leaves the system programs out of an ordinary user's PATH.
  for (const folder of [...path.split(delimiter), '/usr/sbin', '/sbin'].filter(Boolean)) {
    const candidate = join(folder, name)
    try {
      accessSync(candidate, constants.X_OK)
      return candidate
    } catch {}
  }
  return undefined
}

const running = new Set()

/** Ends the commands that still run, with everything they have started. */
export function stopCommands() {
  for (const child of running) killTree(child.pid)
}

/**
 * Runs a command without input and gives its exit code with everything it wrote.
 *
 * @param options those of `spawn`; a command that takes longer than `timeoutMs` is ended
 */
export async function capture(command, args, { timeoutMs, ...options } = {}) {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  running.add(child)
  const chunks = []
  const tooLate = () => {
    chunks.push(Buffer.from(`\nIt was ended because it took longer than ${timeoutMs / 1000} s.\n`))
    killTree(child.pid)
  }
  const timer = timeoutMs === undefined ? undefined : setTimeout(tooLate, timeoutMs)
  const settled = () => {
    running.delete(child)
    clearTimeout(timer)
  }
  child.stdout.on('data', (chunk) => chunks.push(chunk))
  child.stderr.on('data', (chunk) => chunks.push(chunk))
  return await new Promise((resolve, reject) => {
    child.once('error', (cause) => {
      settled()
      reject(new Fault(`${command} could not be started: ${cause.message}`, { cause }))
    })
    child.once('close', (code, signal) => {
      settled()
      resolve({ code: code ?? 1, signal, output: Buffer.concat(chunks).toString('utf8') })
    })
  })
}

/** Runs a command that has to succeed; a failure is told with everything the command wrote. */
export async function run(command, args, options) {
  const { code, signal, output } = await capture(command, args, options)
  if (code === 0) return output
  const ending = signal === null ? `failed with exit code ${code}` : `was ended by ${signal}`
  throw new Fault(`${[command, ...args].join(' ')} ${ending}\n\n${output.trimEnd()}`)
}
