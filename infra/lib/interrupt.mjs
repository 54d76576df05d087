import { commandOf, identityOf, isSameProcess, parentOf } from '../../packages/dev-env/src/processes/identity.mjs'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** @type {((reason: string) => void) | undefined} */
let current

/**
 * Calls back on every signal that asks to stop, and once when npm has ended. A later call-back replaces an earlier one.
 *
 * @param {(reason: string) => void} handler
 */
export function onInterrupt(handler) {
  if (current === undefined) {
    for (const name of SIGNALS) process.on(name, () => current?.(name))
    watchParent(() => current?.('npm is gone'))
  }
  current = handler
}

/**
 * Calls back when the npm that started this process has ended. An npm that was killed cannot pass the signal on, but its
 * user expects everything to end. Between npm and this process there can be the shell that npm runs scripts with.
 *
 * @param {() => void} onOrphaned
 */
function watchParent(onOrphaned) {
  if (process.env['npm_lifecycle_event'] === undefined) return
  const pids = [process.ppid, ...(/ -c /.test(commandOf(process.ppid)) ? [parentOf(process.ppid)] : [])]
  const above = pids.map((pid) => ({ pid, identity: identityOf(pid) }))
  const timer = setInterval(() => {
    if (above.every(isSameProcess)) return
    clearInterval(timer)
    onOrphaned()
  }, 500)
  timer.unref()
}
