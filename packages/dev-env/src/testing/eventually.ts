import { setTimeout as sleep } from 'node:timers/promises'

const SHORTEST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 200

/**
 * Waits until a condition is true. The limit only ends failing tests; it is longer than any machine needs.
 *
 * @param pauseMs between two checks; by default a tenth of the time that has passed, because a check takes the processor
 *   from what the test waits for
 * @throws with the source of the condition, if it is not true in time
 */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  withinMs = 60_000,
  pauseMs?: number,
): Promise<void> {
  const beganAt = Date.now()
  const deadline = beganAt + withinMs
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${String(condition)}`)
    const tenth = Math.min(Math.max((Date.now() - beganAt) / 10, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS)
    await sleep(pauseMs ?? tenth)
  }
}
