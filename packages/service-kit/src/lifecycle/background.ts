import { type RepeatedTask, type RepeatOptions, repeat } from './repeat.ts'
import { runAll } from './resources.ts'

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
