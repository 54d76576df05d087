const TICK_MS = 10_000

/** "0.4 s", "12 s", "1 min 5 s". */
export function seconds(milliseconds) {
  const total = milliseconds / 1000
  if (total < 10) return `${total.toFixed(1)} s`
  const rounded = Math.round(total)
  return rounded < 60 ? `${rounded} s` : `${Math.floor(rounded / 60)} min ${rounded % 60} s`
}

/**
 * Reports one line per step, with the time it took. On a terminal the line counts while the step runs; elsewhere a
 * step that takes long says every ten seconds that it is still at it.
 */
export function createProgress({ out = process.stdout, tickMs = TICK_MS } = {}) {
  const live = out.isTTY === true
  const write = (mark, label, since, note) => {
    const text = `${mark} ${label.padEnd(52)} ${seconds(Date.now() - since).padStart(7)}${note ? `  ${note}` : ''}`
    out.write(live ? `\r\u001b[2K${text}` : `${text}\n`)
  }

  /** Runs `work` and reports it; what it returns as `note`, or as a string, is put at the end of the line. */
  return async function step(label, work) {
    const since = Date.now()
    if (live) write('…', label, since)
    const timer = setInterval(() => write('…', label, since), live ? 1000 : tickMs)
    try {
      const result = await work()
      clearInterval(timer)
      write('✓', label, since, typeof result === 'string' ? result : result?.note)
      if (live) out.write('\n')
      return result
    } catch (error) {
      clearInterval(timer)
      write('✗', label, since)
      if (live) out.write('\n')
      throw error
    }
  }
}
