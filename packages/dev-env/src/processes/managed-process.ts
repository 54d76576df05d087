import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from './command.mjs'
import { identityOf } from './identity.mjs'
import { reaper } from './reaper.ts'
import {
  killTree,
  pauseTree,
  readNote,
  resumeTree,
  type Stoppable,
  stopInPhases,
  stopLeftover,
  stopProcess,
} from './stop.mjs'

/** How long a server may take to answer. */
const START_MS = 60_000
const MAX_LOG_BYTES = 10 * 1024 * 1024

/** What to run and how to stop it. */
export type ProcessSpec = {
  /** The name it has in messages. */
  name: string
  command: string
  args: string[]
  env: NodeJS.ProcessEnv
  cwd?: string | undefined
  /** Run it as somebody else; only root may ask for that. */
  account?: { uid: number; gid: number } | undefined
  /** Output is appended here, never shown. One generation of a log that became long is kept. */
  logFile: string
  /** Where to note the process, so that a later run can stop what this one could not. */
  pidFile: string
  /** Whether it answers; it counts as started once it does. Without it, it counts as started at once. */
  answers?: () => Promise<boolean>
} & Pick<Stoppable, 'stopSignal' | 'graceMs' | 'phase'>

/** How a process ended. */
export type Exit = {
  code: number | null
  signal: NodeJS.Signals | null
}

/** How a process that was asked to stop did so. */
export type Ended = {
  name: string
} & Exit

/** A child in its own process group, which ends when this process ends, however that happens. */
export type ManagedProcess = {
  readonly name: string
  readonly pid: number
  readonly exited: Promise<Exit>
  isRunning(): boolean
  /** Pauses it with all its children, as on a machine that hangs: connections stay open and nothing answers. */
  pause(): void
  resume(): void
  /** Kills it with all its children, as in a power failure. */
  kill(): Promise<Exit>
  /** Asks it to stop, and kills it after its grace period. */
  stop(): Promise<Exit>
  /** Stops it if it runs and starts it again, under the same handle. */
  restart(): Promise<void>
  /** Calls back when it ends without having been asked to. */
  onUnexpectedExit(report: (exit: Exit, logTail: string) => void): void
  /** The last lines it wrote. */
  logTail(lines?: number): string
}

const started = new Set<{ phase: number; handle: ManagedProcess }>()
let closed = false

/** Stops everything that this process has started, in the order of the phases. Nothing can be started afterwards. */
export async function stopAll(): Promise<Ended[]> {
  closed = true
  const running = [...started].filter(({ handle }) => handle.isRunning())
  return await stopInPhases(running, async ({ handle }) => ({ name: handle.name, ...(await handle.stop()) }))
}

/** Kills everything that this process has started. */
export async function killAll(): Promise<void> {
  closed = true
  await Promise.all([...started].map(({ handle }) => handle.kill()))
}

/**
 * Starts a process in its own group, in place of one that an earlier run has left, and returns when it answers.
 *
 * @throws {Fault} with the last lines it wrote, when it ends or does not answer in time; then it is stopped
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
  const end = async (how: (entry: Stoppable) => unknown): Promise<Exit> => {
    wasAsked = true
    current.child.ref()
    if (isRunning(current)) await how(current.entry)
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
    isRunning: () => isRunning(current),
    pause: () => pauseTree(current.entry.pid),
    resume: () => resumeTree(current.entry.pid),
    kill: () => end(({ pid }) => killTree(pid)),
    stop: () => end(stopProcess),
    restart: async () => {
      await end(stopProcess)
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

/** One run of a process. */
type Launched = {
  child: ChildProcess
  entry: Stoppable
  exited: Promise<Exit>
}

function isRunning({ child }: Launched): boolean {
  return child.exitCode === null && child.signalCode === null
}

/** Starts it, and tells the reaper and later runs about it. */
async function launch(spec: ProcessSpec): Promise<Launched> {
  await stopLeftover(spec.pidFile)
  const { stopSignal, graceMs, phase, logFile, pidFile } = spec
  if (closed) throw new Error(`${spec.name} is not started: everything is being stopped`)
  if ((statSync(logFile, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES) renameSync(logFile, `${logFile}.1`)
  const log = openSync(logFile, 'a', 0o600)
  const { command, args, env, cwd, account } = spec
  const child = spawn(command, args, { detached: true, stdio: ['ignore', log, log], env, cwd, ...account })
  closeSync(log)
  await once(child, 'spawn')
  // A child that still runs must not keep this process from ending.
  child.unref()
  const pid = Number(child.pid)
  const entry: Stoppable = { pid, identity: identityOf(pid) ?? 'gone', stopSignal, graceMs, phase }
  reaper().order({ watch: entry })
  writeFileSync(pidFile, `${JSON.stringify({ process: entry, reaper: reaper().seen })}\n`, { mode: 0o600 })
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => {
      // A newer process may have replaced the note.
      if (readNote(pidFile)?.process.identity === entry.identity) rmSync(pidFile, { force: true })
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
