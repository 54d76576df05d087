import { setTimeout as sleep } from 'node:timers/promises'
import { identityOf, isSameProcess, parentOf } from '../../packages/dev-env/reaper/identity.mjs'

/** npm hands a signal on that the terminal has sent us already; only what comes later is the user's impatience. */
const ECHO_MS = 800
/** 128 + 2, what a shell reports for a program that SIGINT ended before it was done. */
const INTERRUPTED = 130

/**
 * Ends the process once, in order and with a truthful exit code: 0 when everything that ran stopped as it was asked to,
 * 1 when something failed or had to be killed, 130 when the start or the stop itself was cut short.
 */
export function createShutdown({ stop, kill, say, isReady = () => true, exit = (code) => process.exit(code) }) {
  let startedAt
  async function shutdown(reason, code) {
    if (startedAt !== undefined) return
    startedAt = Date.now()
    say(reason)
    try {
      const ended = await stop()
      const forced = ended.filter(({ signal }) => signal === 'SIGKILL')
      const failed = ended.filter((one) => one.signal === null && one.code !== 0)
      for (const { name } of forced) say(`${name} did not stop in time and was killed.`)
      for (const one of failed) say(`${one.name} ended with exit code ${one.code}; its log tells why.`)
      exit(forced.length + failed.length > 0 ? 1 : code)
    } catch (error) {
      say(error.stack)
      exit(1)
    }
  }
  return {
    shutdown,
    get running() {
      return startedAt === undefined
    },
    async onSignal(name) {
      if (startedAt === undefined)
        return await shutdown(`\n${name}: stopping. Once more to force it.`, isReady() ? 0 : INTERRUPTED)
      if (Date.now() - startedAt < ECHO_MS) return
      say('Killing what is left.')
      await Promise.race([kill(), sleep(2000)])
      exit(INTERRUPTED)
    },
  }
}

/**
 * Under npm, npm's death is ours: a npm that was killed can not pass anything on, and the user believes that
 * everything ended with it. Between npm and us there can be the shell that npm runs scripts with.
 */
export function watchParent(onOrphaned, { env = process.env, intervalMs = 500 } = {}) {
  if (env.npm_lifecycle_event === undefined) return
  const parent = parentOf(process.pid)
  const npm = parent !== undefined && / -c /.test(parent.command) ? parentOf(parent.pid) : parent
  const above = [parent, npm].filter(Boolean).map(({ pid }) => ({ pid, identity: identityOf(pid) }))
  const timer = setInterval(() => {
    if (above.every(isSameProcess)) return
    clearInterval(timer)
    onOrphaned()
  }, intervalMs)
  timer.unref()
}
