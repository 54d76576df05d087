import { readFileSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { descendantsOf, isSameProcess } from './identity.mjs'

/**
 * The details for stopping a process, even from a process that did not start it. After `graceMs` it is killed. Lower
 * phases stop first.
 *
 * @typedef {{ pid: number, identity: string, stopSignal: NodeJS.Signals, graceMs: number, phase: number }} Stoppable
 */

/**
 * The code of a system error, such as ENOENT. Jest has its own class `Error`, so this looks at the shape of the error.
 *
 * @param {unknown} error
 * @returns {unknown} undefined for other errors
 */
export function codeOf(error) {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
}

/** Sends a signal to processes, some of which may have ended. @param {NodeJS.Signals} name @param {number[]} pids */
function signal(name, ...pids) {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch (error) {
      if (codeOf(error) !== 'ESRCH') throw error
    }
  }
}

/** Pauses a process and its descendants: the parent first, so that it cannot fork meanwhile. @param {number} pid */
export function pauseTree(pid) {
  signal('SIGSTOP', pid)
  signal('SIGSTOP', ...descendantsOf(pid))
}

/** Resumes a process and its descendants, children first. @param {number} pid */
export function resumeTree(pid) {
  signal('SIGCONT', ...descendantsOf(pid), pid)
}

/** Kills a process and its descendants, like a power failure. @param {number} pid */
export function killTree(pid) {
  signal('SIGSTOP', pid)
  signal('SIGKILL', pid, ...descendantsOf(pid))
}

/**
 * Asks a process to stop, kills it with its descendants after its grace period, and returns when it has ended.
 *
 * @param {Stoppable} entry
 */
export async function stopProcess(entry) {
  if (!isSameProcess(entry)) return
  signal(entry.stopSignal, entry.pid)
  resumeTree(entry.pid)
  const deadline = Date.now() + entry.graceMs
  while (isSameProcess(entry)) {
    if (Date.now() > deadline) killTree(entry.pid)
    await sleep(25)
  }
}

/**
 * Stops processes phase by phase.
 *
 * @template {{ phase: number }} T
 * @template R
 * @param {T[]} entries
 * @param {(entry: T) => Promise<R>} stop
 */
export async function stopInPhases(entries, stop) {
  /** @type {R[]} */
  const results = []
  for (const phase of [...new Set(entries.map((entry) => entry.phase))].sort((a, b) => a - b))
    results.push(...(await Promise.all(entries.filter((entry) => entry.phase === phase).map(stop))))
  return results
}

/**
 * The note about a running process, next to its data, for a later run that may have to stop it.
 *
 * @param {string} pidFile
 * @returns {{ process: Stoppable, reaper: import('./identity.mjs').SeenProcess } | undefined}
 */
export function readNote(pidFile) {
  try {
    return JSON.parse(readFileSync(pidFile, 'utf8'))
  } catch {
    return undefined
  }
}

/**
 * Stops a process that the last run left running. If the reaper of that run is still running, it stops the process, and this
 * only waits.
 *
 * @param {string} pidFile
 * @returns {Promise<boolean>} whether there was something to stop
 */
export async function stopLeftover(pidFile) {
  const note = readNote(pidFile)
  if (note === undefined) return false
  const deadline = Date.now() + note.process.graceMs + 10_000
  const wasRunning = isSameProcess(note.process)
  while (isSameProcess(note.process) && isSameProcess(note.reaper) && Date.now() < deadline) await sleep(50)
  await stopProcess(note.process)
  rmSync(pidFile, { force: true })
  return wasRunning
}
