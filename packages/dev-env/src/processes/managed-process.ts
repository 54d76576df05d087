import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from './command.mjs'
import { identityOf } from './identity.mjs'
import { forgetProcess, rememberProcess } from './leftovers.mjs'
import { reaper } from './reaper.ts'
import { killTree, pauseTree, resumeTree, type Stoppable, stopProcess } from './stop.mjs'

/** How long a server may take to answer. */
const START_MS = 60_000

/** What to run and how to stop it. */
export interface ProcessSpec {
  /** The name it has in messages. */
  name: string
  command: string
  args: string[]
  env: NodeJS.ProcessEnv
  cwd?: string | undefined
  /** Run it as somebody else; only root may ask for that. */
  account?: { uid: number; gid: number } | undefined
  /** Output is appended here, never shown. */
  logFile: string
  /** Where to note the pid, so that a later run can stop what this one could not. */
  pidFile: string
  stopSignal: NodeJS.Signals
  graceMs: number
  /** Lower phases stop first when the reaper has to do it. */
  phase: number
}

/** How a process ended. */
export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

/** A child in its own process group, which ends when this process ends, however that happens. */
export interface ManagedProcess {
  readonly name: string
  readonly pid: number
  readonly exited: Promise<Exit>
  isRunning(): boolean
  /** Pauses it with all its children, as on a machine that hangs. */
  pause(): void
  resume(): void
  /** Kills it with all its children, as in a power failure. */
  kill(): Promise<Exit>
  /** Asks it to stop, and kills it after its grace period. */
  stop(): Promise<Exit>
  /** The last lines it wrote. */
  logTail(lines?: number): string
}

const running = new Map<number, { entry: Stoppable; process: ManagedProcess }>()
let closed = false

/** How a process that was asked to stop did so. */
export interface Ended extends Exit {
  name: string
}

/**
 * Stops everything that this process has started, in the order of the phases. Nothing can be started afterwards.
 */
export async function stopAll(): Promise<Ended[]> {
  closed = true
  const all = [...running.values()]
  const ended: Ended[] = []
  for (const phase of [...new Set(all.map(({ entry }) => entry.phase))].sort((a, b) => a - b)) {
    const now = all.filter(({ entry }) => entry.phase === phase)
    ended.push(...(await Promise.all(now.map(async ({ process: one }) => ({ name: one.name, ...(await one.stop()) })))))
  }
  return ended
}

/** Kills everything that this process has started. */
export async function killAll(): Promise<void> {
  closed = true
  await Promise.all([...running.values()].map(({ process: one }) => one.kill()))
}

/** Starts a process in its own group, writes its output to a file and registers it with the reaper. */
export async function startProcess(spec: ProcessSpec): Promise<ManagedProcess> {
  if (closed) throw new Error(`${spec.name} is not started: everything is being stopped`)
  const child = await spawned(spec)
  const pid = child.pid
  if (pid === undefined) throw new Error(`${spec.name} has no pid`)
  const entry: Stoppable = {
    pid,
    identity: identityOf(pid) ?? 'gone',
    stopSignal: spec.stopSignal,
    graceMs: spec.graceMs,
    phase: spec.phase,
  }
  reaper().watch(entry)
  rememberProcess(spec.pidFile, entry, reaper().seen)
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => {
      reaper().forget(pid)
      forgetProcess(spec.pidFile, entry)
      running.delete(pid)
      resolve({ code, signal })
    })
  })
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null
  const one: ManagedProcess = {
    name: spec.name,
    pid,
    exited,
    isRunning,
    pause: () => pauseTree(pid),
    resume: () => resumeTree(pid),
    kill: () => {
      child.ref()
      if (isRunning()) killTree(pid)
      return exited
    },
    stop: async () => {
      child.ref()
      if (isRunning()) await stopProcess(entry)
      return exited
    },
    logTail: (lines = 20) => lastLines(spec.logFile, lines),
  }
  if (isRunning()) running.set(pid, { entry, process: one })
  return one
}

async function spawned(spec: ProcessSpec): Promise<ChildProcess> {
  const log = openSync(spec.logFile, 'a', 0o600)
  try {
    const child = spawn(spec.command, spec.args, {
      detached: true,
      stdio: ['ignore', log, log],
      env: spec.env,
      cwd: spec.cwd,
      ...spec.account,
    })
    await once(child, 'spawn')
    // A child that still runs must not keep this process from ending.
    child.unref()
    return child
  } finally {
    closeSync(log)
  }
}

/**
 * Waits until a server answers. One that does not answer in time is stopped.
 *
 * @throws {Fault} with the last lines it wrote, when it ends or does not answer in time
 */
export async function untilAnswering(server: ManagedProcess, answers: () => Promise<boolean>): Promise<ManagedProcess> {
  const deadline = Date.now() + START_MS
  while (!(await answers())) {
    if (!server.isRunning()) throw new Fault(`${server.name} ended while starting:\n${server.logTail()}`)
    if (Date.now() > deadline) {
      await server.stop()
      throw new Fault(`${server.name} was not ready within ${START_MS / 1000} s:\n${server.logTail()}`)
    }
    await sleep(25)
  }
  return server
}

function lastLines(file: string, lines: number): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-lines).join('\n')
  } catch {
    return ''
  }
}
