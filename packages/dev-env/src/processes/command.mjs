import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { codeOf, killTree } from './stop.mjs'

/** An error that the user can correct. It is shown without a stack. */
export class Fault extends Error {
  /** @override */
  name = 'Fault'
}

/** The text of an error for the user. @param {unknown} error */
export function describeError(error) {
  if (!(error instanceof Error)) return String(error)
  if (codeOf(error) === 'EACCES' && 'path' in error)
    return `You may not change ${String(error.path)}. Start as the user who created it, delete it, or set DATA_DIR to another folder.`
  return error instanceof Fault ? error.message : String(error.stack)
}

/** The path of a program, if this machine has it. @param {string} name @returns {string | undefined} */
export function findProgram(name, path = process.env['PATH'] ?? '') {
  // On Debian the PATH of an ordinary user lacks the folders of system programs.
  const folders = [...path.split(delimiter), '/usr/sbin', '/sbin', '/usr/local/sbin'].filter(Boolean)
  return folders
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
}

/** @type {Set<number>} */
const running = new Set()

/** Kills the commands that are still running, with their children. */
export function stopCommands() {
  for (const pid of running) killTree(pid)
}

/**
 * A command is killed after `timeoutMs`. `isShown` passes its output on while it runs.
 *
 * @typedef {{ cwd?: string, env?: NodeJS.ProcessEnv, stdin?: string, timeoutMs?: number, isShown?: boolean }} CommandOptions
 * @typedef {{ code: number, signal: NodeJS.Signals | null, stdout: string, output: string }} CommandResult `output` is
 *   stdout and stderr, in the order of arrival
 */

/**
 * Runs a command to its end.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {CommandOptions} [options]
 * @returns {Promise<CommandResult>}
 * @throws {Fault} if it cannot be started
 */
export async function capture(command, args, { stdin = '', timeoutMs, isShown = false, ...options } = {}) {
  const child = spawn(command, args, options)
  const { pid } = child
  if (pid !== undefined) running.add(pid)
  const result = { stdout: '', output: '' }
  /** @param {string} text */
  const add = (text) => {
    result.output += text
    if (isShown) process.stdout.write(text)
  }
  const onTimeout = () => {
    add(`\nIt was killed because it took longer than ${Number(timeoutMs) / 1000} s.\n`)
    if (pid !== undefined) killTree(pid)
  }
  const timer = timeoutMs === undefined ? undefined : setTimeout(onTimeout, timeoutMs)
  child.stdout.setEncoding('utf8').on('data', (text) => (result.stdout += String(text)))
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', add)
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
 * @throws {Fault} with its whole output, if it fails
 */
export async function run(command, args, options) {
  const { code, signal, output } = await capture(command, args, options)
  if (code === 0) return
  const ending = signal === null ? `failed with exit code ${code}` : `was ended by ${signal}`
  throw new Fault(`${[command, ...args].join(' ')} ${ending}\n\n${output.trimEnd()}`)
}
