import type { TestTracker } from './tracker.ts'

/** As long as a batch that was taken has to wait, and a little more. */
const STEP_SECONDS = 4

/**
 * Flushes accounting until no transfers or batches are left, including those of the background task.
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
