import { runAll } from './resources.ts'

/** A task that is repeated while the service runs. */
export type RepeatedTask = {
  /** Stops it after the run in progress. */
  stop(): Promise<void>
}

/** A task and its interval. */
export type RepeatOptions = {
  readonly everyMs: number
  /** Counts `everyMs` from the start of a run instead of its end. A run that takes longer is followed at once. */
  readonly fromStart?: boolean
  /** `stopping` is aborted if no further run follows, so that this one need not wait for anything. */
  readonly task: (stopping: AbortSignal) => unknown
  /** Receives the error of a run. The task is repeated anyway. */
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

/** A task that is repeated alongside the requests. */
export type BackgroundTask = RepeatOptions & {
  /** Runs once when the service stops, after the last run of every task. */
  readonly atStop?: () => Promise<void>
}

/** The background tasks of a service. */
export type Background = {
  /** Adds a task. It does not run before `start`. */
  add(task: BackgroundTask): void
  start(): void
  /**
   * Waits for the runs in progress, then runs `atStop` of all tasks in order, even if some fail.
   *
   * @throws AggregateError of all failures
   */
  stop(): Promise<void>
}

/** An empty list of tasks. */
export function createBackground(): Background {
  const tasks: BackgroundTask[] = []
  let repeated: readonly RepeatedTask[] = []
  return {
    add: (task) => void tasks.push(task),
    start: () => {
      repeated = tasks.map(repeat)
    },
    stop: async () => {
      await Promise.all(repeated.map((task) => task.stop()))
      await runAll(
        tasks.flatMap(({ atStop }) => atStop ?? []),
        'could not finish every background task',
      )
    },
  }
}
