import type { SeenProcess } from './identity.mjs'

/** What has to be known about a process in order to stop it, also by somebody who did not start it. */
export interface Stoppable extends SeenProcess {
  stopSignal: NodeJS.Signals
  /** How long it may take before it is killed. */
  graceMs: number
  /** Lower phases stop first. */
  phase: number
}

export function signal(pid: number, name: NodeJS.Signals): void
export function pauseTree(pid: number): void
export function resumeTree(pid: number): void
export function killTree(pid: number): void
export function stopProcess(entry: Stoppable): Promise<void>
export function stopInPhases(entries: Stoppable[]): Promise<void>
