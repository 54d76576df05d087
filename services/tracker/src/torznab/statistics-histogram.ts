/**
 * Response times in buckets that grow by a tenth, so that a percentile of any range is a sum of counts. Bucket `n` holds
 * times above 1.1^(n-1) and up to 1.1^n milliseconds. A percentile read from it is at most 5 % off, since the middle
 * value of a bucket is at most (1.1 - 1) / (1.1 + 1) away from any value in it.
 */
const GROWTH = 1.1
const LOG_GROWTH = Math.log(GROWTH)
/** Shorter and longer times count as these. */
const SHORTEST_MS = 0.1
const LONGEST_MS = 3_600_000

/** The bucket of a response time. @param milliseconds not negative */
export function bucketOf(milliseconds: number): number {
  const bounded = Math.min(Math.max(milliseconds, SHORTEST_MS), LONGEST_MS)
  return Math.ceil(Math.log(bounded) / LOG_GROWTH - 1e-9)
}

/** The value that stands for every time in a bucket. */
function middleOf(bucket: number): number {
  return (2 * GROWTH ** bucket) / (GROWTH + 1)
}

/**
 * The time that a share of all requests took at most.
 *
 * @param counts how many requests fell into each bucket
 * @param share from 0 to 1, 0.95 for the 95th percentile
 * @returns milliseconds, at most 5 % off; null when there are no requests
 */
export function percentile(counts: ReadonlyMap<number, number>, share: number): number | null {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let reached = 0
  const sorted = [...counts].toSorted(([a], [b]) => a - b)
  for (const [bucket, count] of sorted) {
    reached += count
    if (reached >= share * total) return middleOf(bucket)
  }
  return null
}
