import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from './command.mjs'
import { identityOf } from './identity.mjs'
import { reaper } from './reaper.ts'
import * as stops from './stop.mjs'

/** How long a server may take to answer. */
const START_MS = 60_000
const MAX_LOG_BYTES = 10 * 1024 * 1024

/** A program to run, and how to stop it. */
export type ProcessSpec = {
  /** Its name in messages. */
  name: string
  command: string
  args: string[]
  env: NodeJS.ProcessEnv
  cwd?: string | undefined
  /** The user to run it as; only root may set it. */
  account?: { uid: number; gid: number } | undefined
  /** Gets the output. One earlier generation of a long log is kept. */
  logFile: string
  /** Gets a note of the process, so that a later run can stop what this one could not. */
  pidFile: string
  /** Whether it answers. It counts as started once it does, by default at once. */
  answers?: () => Promise<boolean>
} & Pick<stops.Stoppable, 'stopSignal' | 'graceMs' | 'phase'>

/** How a process ended. */
export type Exit = { code: number | null; signal: NodeJS.Signals | null }
export type Ended = { name: string } & Exit

/** A child in its own process group, which ends when this process ends in any way. */
export type ManagedProcess = {
  readonly name: string
  readonly pid: number
  readonly exited: Promise<Exit>
  isRunning(): boolean
  /** Pauses it with all its children. Connections stay open and get no answers. */
  pause(): void
  resume(): void
  /** Kills it with all its children, like a power failure. */
  kill(): Promise<Exit>
  /** Asks it to stop, and kills it after its grace period. */
  stop(): Promise<Exit>
  /** Stops it if it is running, and starts it again under the same handle. */
  restart(): Promise<void>
  /** Calls back when it ends without being asked to. */
  onUnexpectedExit(report: (exit: Exit, logTail: string) => void): void
  /** The last lines of its output. */
  logTail(lines?: number): string
}

const started = new Set<{ phase: number; handle: ManagedProcess }>()
let closed = false

/** Stops everything that this process has started, in the order of the phases. Nothing can be started afterwards. */
export async function stopAll(): Promise<Ended[]> {
  closed = true
  const running = [...started].filter(({ handle }) => handle.isRunning())
  return await stops.stopInPhases(running, async ({ handle }) => ({ name: handle.name, ...(await handle.stop()) }))
}

/** Kills everything that this process has started. */
export async function killAll(): Promise<void> {
  closed = true
  await Promise.all([...started].map(({ handle }) => handle.kill()))
}

/**
 * Starts a process and returns when it answers. A process that an earlier run has left is stopped first.
 *
 * @throws {Fault} with its last lines of output, if it ends or does not answer in time; then it is stopped
 */
export async function startProcess(spec: ProcessSpec): Promise<ManagedProcess> {
  let current = await launch(spec)
  let wasAsked = false
  const reports: ((exit: Exit, logTail: string) => void)[] = []
  const follow = (): void => {
    void current.exited.then((exit) => {
      if (!wasAsked) for (const report of reports) report(exit, handle.logTail())
    })
  }
  const end = async (how: (entry: stops.Stoppable) => unknown): Promise<Exit> => {
    wasAsked = true
    current.child.ref()
    if (handle.isRunning()) await how(current.entry)
    return await current.exited
  }
  const handle: ManagedProcess = {
    name: spec.name,
    get pid() {
      return current.entry.pid
    },
    get exited() {
      return current.exited
    },
    isRunning: () => current.child.exitCode === null && current.child.signalCode === null,
    pause: () => stops.pauseTree(current.entry.pid),
    resume: () => stops.resumeTree(current.entry.pid),
    kill: () => end(({ pid }) => stops.killTree(pid)),
    stop: () => end(stops.stopProcess),
    restart: async () => {
      await end(stops.stopProcess)
      current = await launch(spec)
      await untilAnswering(handle, spec)
      wasAsked = false
      follow()
    },
    onUnexpectedExit: (report) => void reports.push(report),
    logTail: (lines = 20) => lastLines(spec.logFile, lines),
  }
  started.add({ phase: spec.phase, handle })
  await untilAnswering(handle, spec)
  follow()
  return handle
}

type Launched = { child: ChildProcess; entry: stops.Stoppable; exited: Promise<Exit> }

/** Starts it, and registers it with the reaper and for later runs. */
async function launch(spec: ProcessSpec): Promise<Launched> {
  const { stopSignal, graceMs, phase, logFile, pidFile, command, args, env, cwd, account } = spec
  await stops.stopLeftover(pidFile)
  if (closed) throw new Error(`${spec.name} is not started: everything is being stopped`)
  if ((statSync(logFile, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES) renameSync(logFile, `${logFile}.1`)
  const log = openSync(logFile, 'a', 0o600)
  const child = spawn(command, args, { detached: true, stdio: ['ignore', log, log], env, cwd, ...account })
  closeSync(log)
  await once(child, 'spawn')
  // A running child must not keep this process from ending.
  child.unref()
  const pid = Number(child.pid)
  const entry: stops.Stoppable = { pid, identity: identityOf(pid) ?? 'gone', stopSignal, graceMs, phase }
  reaper().order({ watch: entry })
  writeFileSync(pidFile, `${JSON.stringify({ process: entry, reaper: reaper().seen })}\n`, { mode: 0o600 })
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => {
      // A newer process may have replaced the note.
      if (stops.readNote(pidFile)?.process.identity === entry.identity) rmSync(pidFile, { force: true })
      resolve({ code, signal })
    })
  })
  return { child, entry, exited }
}

async function untilAnswering(server: ManagedProcess, { answers }: ProcessSpec): Promise<void> {
  const deadline = Date.now() + START_MS
  while (answers !== undefined && !(await answers())) {
    if (!server.isRunning()) throw new Fault(`${server.name} ended while starting:\n${server.logTail()}`)
    if (Date.now() > deadline) {
      await server.stop()
      throw new Fault(`${server.name} was not ready within ${START_MS / 1000} s:\n${server.logTail()}`)
    }
    await sleep(25)
  }
}

function lastLines(file: string, lines: number): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-lines).join('\n')
  } catch {
    return ''
  }
}
