/** Tells which process does what one is enough for. */
export type Leadership = {
  /** Whether this process leads for now. @throws UnavailableError when it cannot be told */
  lead(): Promise<boolean>
  /** Lets another one lead at once. */
  resign(): Promise<void>
}

/** Work that is done again and again while the service runs. */
export type Background = {
  /** Ends it, after the run that is under way. */
  stop(): Promise<void>
}

/**
 * Repeats a task, never two runs at once.
 *
 * @param options `everyMs` counts from the end of a run; `failed` hears of runs that threw, and the task goes on
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
