/** A task that is repeated while the service runs. */
export type RepeatedTask = {
  /** Stops it, after the run that is in progress. */
  stop(): Promise<void>
}

/**
 * Repeats a task, never two runs at once. The first run starts after `everyMs`.
 *
 * @param options `everyMs` counts from the end of a run; `onError` gets what a run threw, and the task is repeated
 */
export function repeat(options: {
  everyMs: number
  task: () => Promise<void>
  onError: (error: unknown) => void
}): RepeatedTask {
  const state = { stopped: false }
  let timer: NodeJS.Timeout | undefined
  let running = Promise.resolve()
  const schedule = (): void => {
    if (!state.stopped) timer = setTimeout(start, options.everyMs)
  }
  const start = (): void => {
    running = options.task().catch(options.onError).then(schedule)
  }
  schedule()
  return {
    stop: async () => {
      state.stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
