import { setTimeout as sleep } from 'node:timers/promises'
import { describeError } from '../processes/command.mjs'
import type { Ended } from '../processes/managed-process.ts'

/** npm repeats a signal that the terminal has sent already; only a later signal is the user's second one. */
const ECHO_MS = 800
const KILL_MS = 2000
/** 128 + 2, what a shell reports for a program that SIGINT ended before it was done. */
const INTERRUPTED = 130

/** How everything is stopped or killed, and how that is reported. */
export type ShutdownOptions = {
  /** Stops everything in order and returns how each part ended. */
  stop: () => Promise<Ended[]>
  kill: () => Promise<void>
  say: (text: string) => void
  /** Whether the start was complete, so that a signal is the regular end. */
  isReady?: () => boolean
  exit: (code: number) => void
}

/** Ends the process once. */
export type Shutdown = {
  readonly isRunning: boolean
  shutdown(reason: string, code: number): Promise<void>
  /** A signal, or another `reason` to stop; the second one kills. */
  interrupt(reason: string): Promise<void>
}

/**
 * Ends the process once, in order. The exit code is 0 when everything stopped as it was asked to, 1 when something failed
 * or had to be killed, 130 when the start or the stop itself was interrupted.
 */
export function createShutdown({ stop, kill, say, isReady = () => true, exit }: ShutdownOptions): Shutdown {
  let startedAt: number | undefined
  async function shutdown(reason: string, code: number): Promise<void> {
    if (startedAt !== undefined) return
    startedAt = Date.now()
    say(reason)
    try {
      const ended = await stop()
      const forced = ended.filter(({ signal }) => signal === 'SIGKILL')
      const failed = ended.filter((one) => one.signal === null && one.code !== 0)
      for (const { name } of forced) say(`${name} did not stop in time and was killed.`)
      for (const one of failed) say(`${one.name} ended with exit code ${String(one.code)}; see its log.`)
      exit(forced.length + failed.length > 0 ? 1 : code)
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
        return
      }
      if (Date.now() - startedAt < ECHO_MS) return
      say('Killing what still runs.')
      await Promise.race([kill(), sleep(KILL_MS, undefined, { ref: false })])
      exit(INTERRUPTED)
    },
  }
}
