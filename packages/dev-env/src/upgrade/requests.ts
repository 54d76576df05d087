/** Requests that clients send in a loop, to the addresses that are current then. */
export type Load = {
  readonly use: (urls: readonly string[]) => void
  /** Waits until the requests in progress have ended. */
  readonly pause: () => Promise<void>
  /** Ends the load, and compares what was acknowledged with what is stored. Returns what it did, as a sentence. */
  readonly finish: () => Promise<string>
}

/** What a client does once, at an address. @throws if the answer is not the expected one */
export type Request = (url: string) => Promise<void>

/** Sends requests one after the other in each of several loops, to the addresses in turn. An error ends the load. */
export function startRequests(
  loops: readonly Request[],
): Pick<Load, 'use' | 'pause'> & { readonly end: () => Promise<number> } {
  let urls: readonly string[] = []
  let sent = 0
  /** Each loop ends before the next one for the same client starts. */
  let running: readonly Promise<void>[] = loops.map(() => Promise.resolve())
  const failures: unknown[] = []
  const run = async (request: Request, current: readonly string[]): Promise<void> => {
    while (urls === current && failures.length === 0) {
      const url = current[sent % current.length] ?? ''
      sent += 1
      await request(url).catch((error: unknown) =>
        failures.push(new Error(`${url} refused a request`, { cause: error })),
      )
    }
  }
  const pause = async (): Promise<void> => {
    urls = []
    await Promise.all(running)
    if (failures.length > 0) throw failures[0]
  }
  return {
    use: (next) => {
      urls = next
      running = loops.map(async (request, index) => {
        await running[index]
        await run(request, next)
      })
    },
    pause,
    end: async () => {
      await pause()
      return sent
    },
  }
}
