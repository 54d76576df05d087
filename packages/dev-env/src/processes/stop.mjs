import { readFileSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { descendantsOf, isSameProcess } from './identity.mjs'

/**
 * What is needed to stop a process, also by a process that did not start it.
 *
 * @typedef {{
 *   pid: number,
 *   identity: string,
 *   stopSignal: NodeJS.Signals,
 *   graceMs: number,
 *   phase: number,
 * }} Stoppable `graceMs` is how long it may take before it is killed; lower phases stop first
 */

/**
 * The code of an error of the system, such as ENOENT. By shape and not by class: jest has a class `Error` of its own.
 *
 * @param {unknown} error
 * @returns {unknown} undefined for every other error
 */
export function codeOf(error) {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
}

/** Sends a signal to processes that may be gone already. @param {NodeJS.Signals} name @param {number[]} pids */
function signal(name, ...pids) {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch (error) {
      if (codeOf(error) !== 'ESRCH') throw error
    }
  }
}

/**
 * Pauses a process and its descendants: the parent first, so that it cannot fork in the meantime.
 *
 * @param {number} pid
 */
export function pauseTree(pid) {
  signal('SIGSTOP', pid)
  signal('SIGSTOP', ...descendantsOf(pid))
}

/** Resumes a process and its descendants, children first. @param {number} pid */
export function resumeTree(pid) {
  signal('SIGCONT', ...descendantsOf(pid), pid)
}

/** Kills a process and its descendants, as in a power failure. @param {number} pid */
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
 * Stops processes phase by phase: those that others depend on have a higher number and are stopped last.
 *
 * @template {{ phase: number }} T
 * @template R
 * @param {T[]} entries
 * @param {(entry: T) => Promise<R>} stop
 */
export async function stopInPhases(entries, stop) {
  /** @type {R[]} */
  const results = []
  for (const phase of [...new Set(entries.map((entry) => entry.phase))].sort((a, b) => a - b)) {
    results.push(...(await Promise.all(entries.filter((entry) => entry.phase === phase).map(stop))))
  }
  return results
}

/**
 * The note of a running process beside its data, for a later run that may have to stop it.
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
 * Stops what the last run left running. The note contains the time at which the process started, so another process with
 * the same pid is not stopped. While the reaper of the last run is running, it stops the process, and this only waits.
 *
 * @param {string} pidFile
 * @returns {Promise<boolean>} whether there was something to stop
 */
export async function stopLeftover(pidFile) {
  const note = readNote(pidFile)
  if (note === undefined) return false
  const patience = Date.now() + note.process.graceMs + 10_000
  const wasThere = isSameProcess(note.process)
  while (isSameProcess(note.process) && isSameProcess(note.reaper) && Date.now() < patience) await sleep(50)
  await stopProcess(note.process)
  rmSync(pidFile, { force: true })
  return wasThere
}
