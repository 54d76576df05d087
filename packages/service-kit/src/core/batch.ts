import { isUnavailable } from './unavailable.ts'

/** How items are gathered into batches. */
export type BatcherOptions = {
  /** Maximum number of batches in progress. */
  readonly concurrency: number
  /** Maximum number of items per batch. */
  readonly maxBatchSize: number
  /** Minimum time between the starts of two batches, in milliseconds. A full batch starts immediately. */
  readonly lingerMs: number
  /** Whether a batch starts early: the waiting items are worth a call, or no others are expected. */
  readonly isReady: (waiting: number) => boolean
}

/** The calls that a queue makes for its items. */
export type QueuedCalls<Item, Result> = {
  /** Makes one call for some items. @throws the error of the call */
  run(items: readonly Item[]): Promise<Result>
  /** A call succeeded. Must not throw. */
  answered(items: readonly Item[], result: Result): void
  /** A call failed. Must not throw. If the server is unavailable, `items` includes those that waited. */
  failed(items: readonly Item[], error: unknown): void
}

/**
 * Makes one call for many items that arrive at about the same time, for calls that cost far more than an item in them, such
 * as a statement to Postgres or a function call in Redis.
 *
 * The first item after a quiet moment is sent at once, together with those of the same turn of the event loop. Later batches
 * keep their distance in time, so they grow with the load; a full batch does not wait.
 *
 * @returns a function that adds an item, without an allocation
 */
export function createCallQueue<Item, Result>(
  calls: QueuedCalls<Item, Result>,
  { concurrency, maxBatchSize, lingerMs, isReady }: BatcherOptions,
): (item: Item) => void {
  let waiting: Item[] = []
  let running = 0
  let lastStart = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  let endOfTurn: NodeJS.Immediate | undefined
  let isStarting = false

  /** Starts a batch now, or schedules its start. */
  function schedule(): void {
    if (waiting.length === 0 || running >= concurrency) return
    if (waiting.length >= maxBatchSize || isReady(waiting.length)) {
      // Items that become ready by the same event, such as a reply of Redis to many, share a batch.
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
    clearTimeout(timer)
    clearImmediate(endOfTurn)
    timer = endOfTurn = undefined
    // At full concurrency, the end of a batch schedules the next one.
    if (waiting.length > 0 && running < concurrency) void runBatch()
  }

  function takeBatch(): readonly Item[] {
    if (waiting.length > maxBatchSize) return waiting.splice(0, maxBatchSize)
    const batch = waiting
    waiting = []
    return batch
  }

  async function runBatch(): Promise<void> {
    running++
    lastStart = performance.now()
    const batch = takeBatch()
    schedule()
    let result: Result
    try {
      result = await calls.run(batch)
    } catch (error) {
      // Waiting items would only fail in the same way later.
      const others = isUnavailable(error) ? waiting.splice(0) : []
      running--
      schedule()
      calls.failed([...batch, ...others], error)
      return
    }
    running--
    schedule()
    calls.answered(batch, result)
  }

  return (item) => {
    waiting.push(item)
    schedule()
  }
}

/**
 * A call queue that returns a promise per item; see {@link createCallQueue}.
 *
 * @param run returns the results of all items in order; a result may be a promise, which settles only its item. If `run`
 *   fails, its items fail, and the waiting ones too if the server is unavailable
 */
export function createBatcher<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly (Result | Promise<Result>)[]>,
  options: BatcherOptions,
): (item: Item) => Promise<Result> {
  type Entry = {
    readonly item: Item
    readonly resolve: (result: Result | Promise<Result>) => void
    readonly reject: (error: unknown) => void
  }
  const add = createCallQueue<Entry, readonly (Result | Promise<Result>)[]>(
    {
      run: (entries) => run(entries.map(({ item }) => item)),
      answered: (entries, results) => {
        entries.forEach(({ resolve, reject }, i) => {
          const result = results[i]
          if (result === undefined) reject(new Error('the batch has no result for an item'))
          else resolve(result)
        })
      },
      failed: (entries, error) => {
        for (const { reject } of entries) reject(error)
      },
    },
    options,
  )
  return (item) => new Promise((resolve, reject) => add({ item, resolve, reject }))
}
