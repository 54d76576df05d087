import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from './command.mjs'
import { identityOf } from './identity.mjs'
import { forgetProcess, rememberProcess } from './leftovers.mjs'
import { reaper } from './reaper.ts'
import { killTree, pauseTree, resumeTree, type Stoppable, stopProcess } from './stop.mjs'

/** How long a server may take until it answers. */
const START_MS = 60_000

/** What to run and how it wants to be stopped. */
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

/** A child in its own process group that does not outlive us, whatever happens to us. */
export interface ManagedProcess {
  readonly name: string
  readonly pid: number
  readonly exited: Promise<Exit>
  isRunning(): boolean
  /** Freezes it with all its children, as a machine that hangs. */
  pause(): void
  resume(): void
  /** Ends it with all its children, as a power failure. */
  kill(): Promise<Exit>
  /** Asks it to stop and kills it when its grace is over. */
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
 * Stops everything this process has started, what depends on something else before that, and lets nothing start any
 * more.
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

/** Ends everything this process has started at once. */
export async function killAll(): Promise<void> {
  closed = true
  await Promise.all([...running.values()].map(({ process: one }) => one.kill()))
}

/** Starts a process in a group of its own, writes its output to a file and hands it to the reaper. */
export async function startProcess(spec: ProcessSpec): Promise<ManagedProcess> {
  if (closed) throw new Error(`${spec.name} is not started any more: everything is being stopped`)
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
    // The owner decides how long it lives; a forgotten child must not keep it from ending.
    child.unref()
    return child
  } finally {
    closeSync(log)
  }
}

/**
 * Waits until a server that was started answers; one that does not in time is stopped.
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
