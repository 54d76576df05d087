import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { killTree } from './stop.mjs'

/** An error that the user can correct. Its message is shown without a stack. */
export class Fault extends Error {
  /** @override */
  name = 'Fault'
}

/** An error as it is shown to the user. @param {unknown} error */
export function describeError(error) {
  if (!(error instanceof Error)) return String(error)
  return error instanceof Fault ? error.message : String(error.stack)
}

/**
 * Where a program is.
 *
 * @param {string} name
 * @returns {string | undefined} undefined when this machine has no program of that name
 */
export function findProgram(name, path = process.env['PATH'] ?? '') {
  // On Debian the PATH of an ordinary user lacks the folders of system programs.
  const folders = [...path.split(delimiter), '/usr/sbin', '/sbin', '/usr/local/sbin'].filter(Boolean)
  return folders.map((folder) => join(folder, name)).find(isExecutable)
}

/** @param {string} file */
function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** @type {Set<number>} */
const running = new Set()

/** Kills the commands that still run, with their children. */
export function stopCommands() {
  for (const pid of running) killTree(pid)
}

/**
 * What a command runs with, and the time in milliseconds after which it is killed.
 *
 * @typedef {{ cwd?: string, env?: NodeJS.ProcessEnv, stdin?: string, timeoutMs?: number }} CommandOptions
 * @typedef {{ code: number, signal: NodeJS.Signals | null, stdout: string, output: string }} CommandResult `output` is
 *   what it wrote to stdout and stderr, in the order in which it came
 */

/**
 * Runs a command to its end.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {CommandOptions} [options]
 * @returns {Promise<CommandResult>}
 * @throws {Fault} when it cannot be started
 */
export async function capture(command, args, { stdin = '', timeoutMs, ...options } = {}) {
  const child = spawn(command, args, options)
  const { pid } = child
  if (pid !== undefined) running.add(pid)
  const result = { stdout: '', output: '' }
  const onTimeout = () => {
    result.output += `\nIt was killed because it took longer than ${Number(timeoutMs) / 1000} s.\n`
    if (pid !== undefined) killTree(pid)
  }
  const timer = timeoutMs === undefined ? undefined : setTimeout(onTimeout, timeoutMs)
  child.stdout.setEncoding('utf8').on('data', (text) => (result.stdout += String(text)))
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (result.output += String(text)))
  // A command may end without reading its input.
  child.stdin.on('error', () => undefined)
  child.stdin.end(stdin)
  try {
    const [code, signal] = await once(child, 'close')
    return { code: code ?? 1, signal, ...result }
  } catch (cause) {
    throw new Fault(`${command} could not be started: ${describeError(cause)}`, { cause })
  } finally {
    if (pid !== undefined) running.delete(pid)
    clearTimeout(timer)
  }
}

/**
 * Runs a command that has to succeed.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {CommandOptions} [options]
 * @throws {Fault} with everything the command wrote, when it fails
 */
export async function run(command, args, options) {
  const { code, signal, output } = await capture(command, args, options)
  if (code === 0) return
  const ending = signal === null ? `failed with exit code ${code}` : `was ended by ${signal}`
  throw new Fault(`${[command, ...args].join(' ')} ${ending}\n\n${output.trimEnd()}`)
}
