/** How items are gathered into batches. */
export type BatcherOptions = {
  /** How many batches may be under way at a time. */
  readonly concurrency: number
  /** How many items a batch takes at most. */
  readonly maxBatchSize: number
  /** A batch starts no sooner than this after the start of the one before, in milliseconds, ... */
  readonly lingerMs: number
  /** ... unless they fill a batch or are enough: as many as pay for one, or no others are expected. */
  readonly isReady: (waiting: number) => boolean
}

/**
 * Makes one call for many items that arrive at about the same time, where a call costs far more than an item in it: a
 * statement to Postgres, a function call in Redis.
 *
 * An item after a quiet moment is sent at once, together with those of the same turn of the event loop. Batches keep a
 * distance in time, so the busier it is the more items each of them takes; a full batch does not wait.
 *
 * @param run returns the results of all items, in their order; a result may be a promise, which settles for its item
 *   alone. When `run` fails, it fails for these items and for those that wait, which would otherwise wait as long again
 *   for the same failure
 * @returns a function that resolves with the result of its item
 */
export function createBatcher<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly (Result | Promise<Result>)[]>,
  { concurrency, maxBatchSize, lingerMs, isReady }: BatcherOptions,
): (item: Item) => Promise<Result> {
  type Entry = {
    item: Item
    resolve: (result: Result | Promise<Result>) => void
    reject: (error: unknown) => void
  }
  const waiting: Entry[] = []
  let running = 0
  let lastStart = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  let endOfTurn: NodeJS.Immediate | undefined
  let isStarting = false

  /** Starts a batch now, or makes sure that one starts as soon as it may. */
  function schedule(): void {
    if (waiting.length === 0 || running >= concurrency) return
    if (waiting.length >= maxBatchSize || isReady(waiting.length)) {
      // Items that become ready by the same event, such as one answer of Redis to many, share the batch.
      if (!isStarting) process.nextTick(startReady)
      isStarting = true
      return
    }
    if (timer !== undefined || endOfTurn !== undefined) return
    const wait = lastStart + lingerMs - performance.now()
    if (wait > 0) timer = setTimeout(onDue, wait)
    else endOfTurn = setImmediate(onDue)
  }

  function startReady(): void {
    isStarting = false
    onDue()
  }

  function onDue(): void {
    clearTimers()
    // At full concurrency, the end of a batch schedules the next one.
    if (waiting.length > 0 && running < concurrency) void runBatch()
  }

  function clearTimers(): void {
    clearTimeout(timer)
    clearImmediate(endOfTurn)
    timer = endOfTurn = undefined
  }

  async function runBatch(): Promise<void> {
    running++
    lastStart = performance.now()
    const batch = waiting.splice(0, maxBatchSize)
    schedule()
    try {
      const results = await run(batch.map(({ item }) => item))
      batch.forEach(({ resolve, reject }, i) => {
        const result = results[i]
        if (result === undefined) reject(new Error('the batch has no result for an item'))
        else resolve(result)
      })
    } catch (error) {
      for (const { reject } of [...batch, ...waiting.splice(0)]) reject(error)
    }
    running--
    schedule()
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      schedule()
    })
}
