import { setTimeout as sleep } from 'node:timers/promises'
import { descendantsOf, isSameProcess } from './identity.mjs'

/** Sends a signal to a process that may be gone already. */
export function signal(pid, name) {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}

/** Freezes a process and everything below it: the parent first, so that it can not fork while we look. */
export function pauseTree(pid) {
  signal(pid, 'SIGSTOP')
  for (const child of descendantsOf(pid)) signal(child, 'SIGSTOP')
}

/** Lets a frozen tree go on: the children first, so that the parent finds them awake. */
export function resumeTree(pid) {
  for (const child of descendantsOf(pid)) signal(child, 'SIGCONT')
  signal(pid, 'SIGCONT')
}

/** Ends a process and everything below it as a power failure would. */
export function killTree(pid) {
  signal(pid, 'SIGSTOP')
  const below = descendantsOf(pid)
  for (const one of [pid, ...below]) signal(one, 'SIGKILL')
}

/** Asks one process to stop, kills it with its children when its grace is over, and returns when it is gone. */
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

/** Stops the processes phase by phase: what others depend on has the higher number and goes last. */
export async function stopInPhases(entries) {
  for (const phase of [...new Set(entries.map((entry) => entry.phase))].sort((a, b) => a - b)) {
    await Promise.all(entries.filter((entry) => entry.phase === phase).map(stopProcess))
  }
}
