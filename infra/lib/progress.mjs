/**
 * Runs some work as a step and reports the time it took. A string that the work returns is shown at the end of the line.
 *
 * @typedef {<T>(label: string, work: () => Promise<T>) => Promise<T>} Step
 */

/** "0.4 s", "12 s", "1 min 5 s". @param {number} milliseconds */
export function seconds(milliseconds) {
  const total = milliseconds / 1000
  if (total < 10) return `${total.toFixed(1)} s`
  const rounded = Math.round(total)
  return rounded < 60 ? `${rounded} s` : `${Math.floor(rounded / 60)} min ${rounded % 60} s`
}

/**
 * Prints one line per step. A step that runs is shown on a terminal; elsewhere it is reported every ten seconds.
 *
 * @param {{ isTTY?: boolean, columns?: number, write(text: string): unknown }} [out]
 * @returns {Step}
 */
export function createProgress(out = process.stdout) {
  return async (label, work) => {
    const since = Date.now()
    /** @param {string} mark @param {unknown} [note] */
    const line = (mark, note) => {
      const time = seconds(Date.now() - since).padStart(7)
      return `${mark} ${label.padEnd(52)} ${time}${typeof note === 'string' && note !== '' ? `  ${note}` : ''}`
    }
    // A line that wraps could not be overwritten.
    const show = () =>
      out.write(out.isTTY ? `\r\u001b[2K${line('…').slice(0, (out.columns ?? 80) - 1)}` : `${line('…')}\n`)
    /** @param {string} mark @param {unknown} [note] */
    const end = (mark, note) => out.write(`${out.isTTY ? '\r\u001b[2K' : ''}${line(mark, note)}\n`)
    if (out.isTTY) show()
    const timer = setInterval(show, out.isTTY ? 1_000 : 10_000)
    try {
      const result = await work()
      end('✓', result)
      return result
    } catch (error) {
      end('✗')
      throw error
    } finally {
      clearInterval(timer)
    }
  }
}
