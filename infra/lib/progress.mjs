/** @typedef {<T>(label: string, work: () => Promise<T>) => Promise<T>} Step */

const TICK_MS = 10_000

/** "0.4 s", "12 s", "1 min 5 s". @param {number} milliseconds */
export function seconds(milliseconds) {
  const total = milliseconds / 1000
  if (total < 10) return `${total.toFixed(1)} s`
  const rounded = Math.round(total)
  return rounded < 60 ? `${rounded} s` : `${Math.floor(rounded / 60)} min ${rounded % 60} s`
}

/**
 * Reports one line per step, with the time it took. On a terminal the line counts while the step runs; elsewhere a
 * step that takes long is reported every ten seconds. A string that the work returns is put at the end of the line.
 *
 * @param {{ out?: { isTTY?: boolean, write(text: string): unknown }, tickMs?: number }} [options]
 * @returns {Step}
 */
export function createProgress({ out = process.stdout, tickMs = TICK_MS } = {}) {
  const live = out.isTTY === true
  /** @param {string} mark @param {string} label @param {number} since @param {unknown} [note] */
  const write = (mark, label, since, note) => {
    const time = seconds(Date.now() - since).padStart(7)
    const text = `${mark} ${label.padEnd(52)} ${time}${typeof note === 'string' && note !== '' ? `  ${note}` : ''}`
    out.write(live ? `\r\u001b[2K${text}` : `${text}\n`)
  }
  return async (label, work) => {
    const since = Date.now()
    if (live) write('…', label, since)
    const timer = setInterval(() => write('…', label, since), live ? 1000 : tickMs)
    /** @param {string} mark @param {unknown} [note] */
    const end = (mark, note) => {
      clearInterval(timer)
      write(mark, label, since, note)
      if (live) out.write('\n')
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
