import { identityOf, isSameProcess, parentOf } from '../../packages/dev-env/src/processes/identity.mjs'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

/**
 * Calls back on every signal that asks to stop, and once when npm has ended.
 *
 * @param {(reason: string) => void} handler
 */
export function onInterrupt(handler) {
  for (const name of SIGNALS) process.on(name, () => handler(name))
  watchParent(() => handler('npm is gone'))
}

/**
 * Calls back when the npm that started this process has ended. An npm that was killed cannot pass the signal on, but its
 * user expects everything to end. Between npm and this process there can be the shell that npm runs scripts with.
 *
 * @param {() => void} onOrphaned
 */
function watchParent(onOrphaned) {
  if (process.env['npm_lifecycle_event'] === undefined) return
  const parent = parentOf(process.pid)
  const npm = parent !== undefined && / -c /.test(parent.command) ? parentOf(parent.pid) : parent
  const above = [parent, npm].flatMap((one) => (one ? [{ pid: one.pid, identity: identityOf(one.pid) }] : []))
  const timer = setInterval(() => {
    if (above.every(isSameProcess)) return
    clearInterval(timer)
    onOrphaned()
  }, 500)
  timer.unref()
}
