import { setTimeout as sleep } from 'node:timers/promises'
import { describeError } from '../processes/command.mjs'
import type { Ended } from '../processes/managed-process.ts'

/** npm repeats a signal that the terminal has already sent. Only a later signal is the user's second one. */
const ECHO_MS = 800
const KILL_MS = 2000
/** 128 + 2, which shells report for a program that SIGINT ended. */
const INTERRUPTED = 130

export type ShutdownOptions = {
  /** Stops everything in order and returns how each part ended. */
  stop: () => Promise<Ended[]>
  kill: () => Promise<void>
  say: (text: string) => void
  /** Whether the start is complete, so that a signal is a regular stop. */
  isReady?: () => boolean
  exit: (code: number) => void
}

/** Ends the process once. */
export type Shutdown = {
  readonly isRunning: boolean
  shutdown(reason: string, code: number): Promise<void>
  /** Handles a signal. The second one kills. */
  interrupt(reason: string): Promise<void>
}

/**
 * The exit code is 0 if everything stopped when asked to, 1 if something failed or had to be killed, and 130 if the start
 * or the stop was interrupted.
 */
export function createShutdown({ stop, kill, say, isReady = () => true, exit }: ShutdownOptions): Shutdown {
  let startedAt: number | undefined
  async function shutdown(reason: string, code: number): Promise<void> {
    if (startedAt !== undefined) return
    startedAt = Date.now()
    say(reason)
    try {
      const bad = (await stop()).filter((one) => one.signal === 'SIGKILL' || (one.signal === null && one.code !== 0))
      for (const one of bad)
        if (one.signal === 'SIGKILL') say(`${one.name} did not stop in time and was killed.`)
        else say(`${one.name} ended with exit code ${String(one.code)}. See its log.`)
      exit(bad.length > 0 ? 1 : code)
    } catch (error) {
      say(describeError(error))
      exit(1)
    }
  }
  return {
    get isRunning() {
      return startedAt === undefined
    },
    shutdown,
    async interrupt(reason) {
      if (startedAt === undefined) {
        await shutdown(`\n${reason}: stopping. Press Ctrl-C again to kill.`, isReady() ? 0 : INTERRUPTED)
      } else if (Date.now() - startedAt >= ECHO_MS) {
        say('Killing what is still running.')
        await Promise.race([kill(), sleep(KILL_MS, undefined, { ref: false })])
        exit(INTERRUPTED)
      }
    },
  }
}
