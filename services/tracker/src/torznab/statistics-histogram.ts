/**
 * Response times in buckets that grow by a tenth, so that a percentile of any range is read from sums of counts. Bucket
 * `n` holds times above 1.1^(n-1) and up to 1.1^n milliseconds, bucket 0 all up to one millisecond. A percentile is at
 * most 5 % off, since the middle of a bucket is at most (1.1 - 1) / (1.1 + 1) away from any value in it.
 */
const GROWTH = 1.1
const LOG_GROWTH = Math.log(GROWTH)
/** Longer times count as an hour. */
const LONGEST_MS = 3_600_000

/** How many response times fell into each bucket; buckets at the end are left out where they are empty. */
export type Histogram = readonly number[]

/** The bucket of a response time in milliseconds. */
export function bucketOf(milliseconds: number): number {
  const bounded = Math.min(Math.max(milliseconds, 1), LONGEST_MS)
  return Math.ceil(Math.log(bounded) / LOG_GROWTH - 1e-9)
}

/** Adds response times to a histogram in place. */
export function addTo(histogram: number[], bucket: number, count: number): void {
  while (histogram.length <= bucket) histogram.push(0)
  histogram[bucket] = (histogram[bucket] ?? 0) + count
}

/**
 * The time that a share of all requests took at most.
 *
 * @param share from 0 to 1, 0.95 for the 95th percentile
 * @returns milliseconds, at most 5 % off; null when there are no requests
 */
export function percentile(histogram: Histogram, share: number): number | null {
  const wanted = share * histogram.reduce((sum, count) => sum + count, 0)
  let reached = 0
  for (const [bucket, count] of histogram.entries()) {
    reached += count
    if (count > 0 && reached >= wanted) return bucket === 0 ? 1 : (2 * GROWTH ** bucket) / (GROWTH + 1)
  }
  return null
}
