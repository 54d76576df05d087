/** A task that is repeated while the service runs. */
export type RepeatedTask = {
  /** Stops it, after the run that is in progress. */
  stop(): Promise<void>
}

/** A task, and how often it is repeated. */
export type RepeatOptions = {
  readonly everyMs: number
  /** `everyMs` counts from the start of a run, and one that takes longer is followed at once; otherwise from its end. */
  readonly fromStart?: boolean
  /** Returns a promise where it is not done at once. `stopping` is aborted when no run is to follow, so that this one need not wait for anything. */
  readonly task: (stopping: AbortSignal) => unknown
  /** Gets what a run threw. The task is repeated. */
  readonly onError: (error: unknown) => void
}

/** Repeats a task, never two runs at once. The first run starts after `everyMs`. */
export function repeat({ everyMs, fromStart = false, task, onError }: RepeatOptions): RepeatedTask {
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let running = Promise.resolve()
  const schedule = (waitMs: number): void => {
    if (!stopping.signal.aborted) timer = setTimeout(start, waitMs)
  }
  const start = (): void => {
    const started = performance.now()
    const takenMs = (): number => (fromStart ? performance.now() - started : 0)
    running = Promise.resolve()
      .then(() => task(stopping.signal))
      .catch(onError)
      .then(() => schedule(Math.max(0, everyMs - takenMs())))
  }
  schedule(everyMs)
  return {
    stop: async () => {
      stopping.abort()
      clearTimeout(timer)
      await running
    },
  }
}
