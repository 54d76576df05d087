import type { Exit, ManagedProcess } from './managed-process.ts'

/** A server that a test can pause, kill and restart. */
export interface RestartableProcess {
  readonly pid: number
  /** Pauses it: connections stay open and nothing answers. */
  pause(): void
  resume(): void
  /** Kills it, as in a power failure. */
  kill(): Promise<Exit>
  stop(): Promise<Exit>
  /** Stops it if it runs and starts it again on the same port with the same data. */
  restart(): Promise<void>
  isRunning(): boolean
  /** Calls back when it ends without having been asked to. */
  onUnexpectedExit(report: (exit: Exit, logTail: string) => void): void
}

/** Wraps a process so that it can be restarted under the same handle. */
export function restartable(first: ManagedProcess, start: () => Promise<ManagedProcess>): RestartableProcess {
  let current = first
  let asked = false
  const reports: ((exit: Exit, logTail: string) => void)[] = []
  const follow = (one: ManagedProcess): void => {
    void one.exited.then((exit) => {
      if (!asked) for (const report of reports) report(exit, one.logTail())
    })
  }
  const end = async (how: 'kill' | 'stop'): Promise<Exit> => {
    asked = true
    return await current[how]()
  }
  follow(first)
  return {
    get pid() {
      return current.pid
    },
    pause: () => current.pause(),
    resume: () => current.resume(),
    kill: () => end('kill'),
    stop: () => end('stop'),
    restart: async () => {
      await end('stop')
      current = await start()
      asked = false
      follow(current)
    },
    isRunning: () => current.isRunning(),
    onUnexpectedExit: (report) => void reports.push(report),
  }
}
