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

/** Sends a signal to a process that may be gone already. @param {number} pid @param {NodeJS.Signals} name */
function signal(pid, name) {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error
  }
}

/**
 * Pauses a process and its descendants: the parent first, so that it cannot fork in the meantime.
 *
 * @param {number} pid
 */
export function pauseTree(pid) {
  signal(pid, 'SIGSTOP')
  for (const child of descendantsOf(pid)) signal(child, 'SIGSTOP')
}

/** Resumes a process and its descendants, children first. @param {number} pid */
export function resumeTree(pid) {
  for (const child of descendantsOf(pid)) signal(child, 'SIGCONT')
  signal(pid, 'SIGCONT')
}

/** Kills a process and its descendants, as in a power failure. @param {number} pid */
export function killTree(pid) {
  signal(pid, 'SIGSTOP')
  const below = descendantsOf(pid)
  for (const one of [pid, ...below]) signal(one, 'SIGKILL')
}

/**
 * Asks a process to stop, kills it with its descendants after its grace period, and returns when it has ended.
 *
 * @param {Stoppable} entry
 */
export async function stopProcess({ pid, identity, stopSignal, graceMs }) {
  const seen = { pid, identity }
  if (!isSameProcess(seen)) return
  signal(pid, stopSignal)
  resumeTree(pid)
  const deadline = Date.now() + graceMs
  while (isSameProcess(seen)) {
    if (Date.now() > deadline) killTree(pid)
    await sleep(25)
  }
}

/**
 * Stops the processes phase by phase: those that others depend on have a higher number and are stopped last.
 *
 * @param {Stoppable[]} entries
 */
export async function stopInPhases(entries) {
  for (const phase of [...new Set(entries.map((entry) => entry.phase))].sort((a, b) => a - b)) {
    await Promise.all(entries.filter((entry) => entry.phase === phase).map(stopProcess))
  }
}
