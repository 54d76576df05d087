const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** @type {((reason: string) => void) | undefined} */
let current

/**
 * Calls back on every signal that asks this process to stop, and once when npm has ended: npm does not always pass a signal
 * on before it ends. A later callback replaces an earlier one.
 *
 * @param {(reason: string) => void} handler
 */
export function onInterrupt(handler) {
  if (current === undefined) {
    for (const name of SIGNALS) process.on(name, () => current?.(name))
    if (process.env['npm_lifecycle_event'] !== undefined) watchParent()
  }
  current = handler
}

/** The system gives an orphan another parent. */
function watchParent() {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    current?.('npm has ended')
  }, 500)
  timer.unref()
}
