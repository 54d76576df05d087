import { type RepeatedTask, type RepeatOptions, repeat } from './repeat.ts'

/** A task that is repeated beside the requests. */
export type BackgroundTask = RepeatOptions & {
  /** Runs once at the stop, after the last run of every task has ended. */
  readonly atStop?: () => Promise<void>
}

/** What a service does beside requests, from its start to its stop. */
export type Background = {
  /** Adds a task. It does not run before `start`. */
  add(task: BackgroundTask): void
  start(): void
  /**
   * Waits for the runs that are in progress, then runs what tasks do at the stop, in the order in which they were added,
   * also where some of it fails.
   *
   * @throws AggregateError of what failed
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
      const errors: unknown[] = []
      for (const { atStop } of tasks) {
        try {
          await atStop?.()
        } catch (error) {
          errors.push(error)
        }
      }
      if (errors.length > 0) throw new AggregateError(errors, 'could not finish every background task')
    },
  }
}
