/**
 * Does something as a step. Where `note` is given, it says how far the step is while it runs.
 *
 * @typedef {<T>(label: string, work: () => Promise<T>, note?: () => string) => Promise<T>} Step
 * @typedef {{ label: string, since: number, note: () => string }} Running
 */

const TICK_MS = 10_000

/** "0.4 s", "12 s", "1 min 5 s". @param {number} milliseconds */
export function seconds(milliseconds) {
  const total = milliseconds / 1000
  if (total < 10) return `${total.toFixed(1)} s`
  const rounded = Math.round(total)
  return rounded < 60 ? `${rounded} s` : `${Math.floor(rounded / 60)} min ${rounded % 60} s`
}

/**
 * Reports one line per step, with the time it took. On a terminal the last line shows the steps that run; elsewhere a
 * step that takes long is reported every ten seconds. A string that the work returns is put at the end of the line.
 *
 * @param {{ out?: { isTTY?: boolean, columns?: number, write(text: string): unknown }, tickMs?: number }} [options]
 * @returns {Step}
 */
export function createProgress({ out = process.stdout, tickMs = TICK_MS } = {}) {
  const live = out.isTTY === true
  /** @type {Set<Running>} */
  const running = new Set()
  /** @param {string} mark @param {Running} step @param {unknown} note */
  const lineOf = (mark, { label, since }, note) => {
    const time = seconds(Date.now() - since).padStart(7)
    return `${mark} ${label.padEnd(52)} ${time}${typeof note === 'string' && note !== '' ? `  ${note}` : ''}`
  }
  const show = () => {
    const [only, ...others] = [...running]
    if (only === undefined) return
    const all = [only, ...others].map((each) => brief(each)).join(' | ')
    const text = others.length === 0 ? lineOf('…', only, only.note()) : `… ${all}`
    // A line that wraps could not be written over.
    out.write(`\r\u001b[2K${text.slice(0, (out.columns ?? 80) - 1)}`)
  }
  return async (label, work, note = () => '') => {
    const step = { label, since: Date.now(), note }
    running.add(step)
    const tick = live ? show : () => out.write(`${lineOf('…', step, note())}\n`)
    if (live) show()
    const timer = setInterval(tick, live ? 1000 : tickMs)
    /** @param {string} mark @param {unknown} [result] */
    const end = (mark, result) => {
      clearInterval(timer)
      running.delete(step)
      out.write(`${live ? '\r\u001b[2K' : ''}${lineOf(mark, step, result)}\n`)
      if (live) show()
    }
    try {
      const result = await work()
      end('✓', result)
      return result
    } catch (error) {
      end('✗')
      throw error
    }
  }
}

/** @param {Running} step */
function brief({ label, since, note }) {
  return [label, seconds(Date.now() - since), note()].filter((part) => part !== '').join(' ')
}
