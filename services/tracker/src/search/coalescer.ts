/** Runs work for a key, one run at a time. */
export type Coalescer<Result> = (key: string, run: () => Promise<Result>) => Promise<Result>

type Run<Result> = { readonly ended: Promise<void>; next: Promise<Result> | undefined }

/**
 * Shares runs among concurrent callers with the same key, since the tools of many users search on the hour. A call during
 * a run of its key waits for the next run, which all calls of that time share. So a run always starts after the call, and
 * its result includes everything stored before.
 *
 * @returns a function that fails if the run fails
 */
export function createCoalescer<Result>(): Coalescer<Result> {
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
