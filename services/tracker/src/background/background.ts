/** Chooses one of several processes for work that one of them has to do. */
export type Leadership = {
  /**
   * Acquires or renews leadership.
   *
   * @returns whether this process leads for now
   * @throws UnavailableError when Redis is unavailable
   */
  acquire(): Promise<boolean>
  /** Gives leadership up, so that another process can acquire it at once. */
  release(): Promise<void>
}

/** A task that is repeated while the service runs. */
export type Background = {
  /** Stops it, after the run that is under way. */
  stop(): Promise<void>
}

/**
 * Repeats a task, never two runs at once.
 *
 * @param options `everyMs` counts from the end of a run; `failed` gets what a run threw, and the task is repeated
 */
export function repeat(options: {
  everyMs: number
  task: () => Promise<void>
  failed: (error: unknown) => void
}): Background {
  const state = { stopped: false }
  let timer: NodeJS.Timeout | undefined
  let running = Promise.resolve()
  const schedule = (): void => {
    if (!state.stopped) timer = setTimeout(start, options.everyMs)
  }
  const start = (): void => {
    running = options.task().catch(options.failed).then(schedule)
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
