import { setTimeout as sleep } from 'node:timers/promises'

const PAUSE_MS = 20

/**
 * Waits until a condition holds. The bound only makes a failing test end; no machine needs that long.
 *
 * @param pauseMs between two checks; longer where a check costs something and the wait is long
 * @throws when it does not hold in time, with the condition's source
 */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  withinMs = 60_000,
  pauseMs = PAUSE_MS,
): Promise<void> {
  const deadline = Date.now() + withinMs
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${String(condition)}`)
    await sleep(pauseMs)
  }
}
