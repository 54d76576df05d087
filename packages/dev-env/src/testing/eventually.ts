import { setTimeout as sleep } from 'node:timers/promises'

const PAUSE_MS = 20

/**
 * Waits until a condition is true. The limit only ends failing tests; it is longer than any machine needs.
 *
 * @param pauseMs between two checks; longer if a check is expensive and the wait is long
 * @throws with the source of the condition, if it is not true in time
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
