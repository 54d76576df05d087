/** Runs work under a key, at most once at a time. */
export type SharedRuns<Result> = (key: string, run: () => Promise<Result>) => Promise<Result>

type Run<Result> = { readonly ended: Promise<void>; next: Promise<Result> | undefined }

/**
 * Shares a run among callers that ask for the same at the same moment, as the tools of many users do at full hours. A call
 * during a run of its key waits for the next run, which is shared by all calls of that time. So a run always begins after
 * the call, and its result has everything that was stored before.
 *
 * @returns a function that fails as the run does
 */
export function createSharedRuns<Result>(): SharedRuns<Result> {
  const underWay = new Map<string, Run<Result>>()

  function start(key: string, run: () => Promise<Result>): Promise<Result> {
    const result = run()
    const entry: Run<Result> = {
      ended: result.then(
        () => end(key, entry),
        () => end(key, entry),
      ),
      next: undefined,
    }
    underWay.set(key, entry)
    return result
  }

  function end(key: string, entry: Run<Result>): void {
    if (entry.next === undefined) underWay.delete(key)
  }

  return (key, run) => {
    const current = underWay.get(key)
    if (current === undefined) return start(key, run)
    current.next ??= current.ended.then(() => start(key, run))
    return current.next
  }
}
