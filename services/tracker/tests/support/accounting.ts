import type { TestTracker } from './tracker.ts'

/** As long as a batch that was taken has to wait, and a little more. */
const STEP_SECONDS = 4

/**
 * Has accounting written until nothing gathers and no batch waits, whatever the background has begun meanwhile.
 *
 * @returns the seconds by which it moved the clock
 * @throws when a batch cannot be written
 */
export async function writeAccounting(tracker: TestTracker): Promise<number> {
  for (let seconds = 0; ; seconds += STEP_SECONDS) {
    const { written, waiting, failed } = await tracker.flush()
    if (failed > 0) throw new Error(`${String(failed)} batches could not be written`)
    if (written + waiting === 0) return seconds
    tracker.advance(STEP_SECONDS * 1000)
  }
}
