import { apiError } from '../errors.ts'

/** Whether a client is still waiting. A write that was given up must not undo a later one. */
export type Wanted = {
  /** Aborts when the client disconnects or the write takes too long. */
  readonly signal: AbortSignal
  /** @throws ApiError unavailable if the write was given up; called before every commit */
  assert(): void
}

/** Less than the ten seconds that clients wait; a statement may take six of them. */
const WRITE_MS = 8_000

/**
 * @param onGone calls back when the client disconnects
 * @param ms after this time the request is given up; Infinity if it has its own end
 */
export function createWanted(onGone: (gone: () => void) => void, ms = WRITE_MS): Wanted {
  const given = new AbortController()
  const until = performance.now() + ms
  const timer = ms === Infinity ? undefined : setTimeout(() => given.abort(), ms)
  onGone(() => {
    clearTimeout(timer)
    given.abort()
  })
  return {
    signal: given.signal,
    assert: () => {
      // In a process that was frozen, the timer may not have run yet.
      if (given.signal.aborted || performance.now() >= until) throw givenUp()
    },
  }
}

/** For work without a client, such as a command. */
export function alwaysWanted(): Wanted {
  return { signal: new AbortController().signal, assert: () => undefined }
}

/** Returns the result of work, or throws as soon as it is given up. @throws ApiError unavailable */
export function whileWanted<T>({ signal }: Wanted, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(givenUp())
    signal.addEventListener('abort', giveUp, { once: true })
    if (signal.aborted) giveUp()
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
  })
}

/** The error of a write that was given up. */
export function givenUp(): Error {
  return apiError('unavailable', 'The write took too long. Try again in a moment.')
}
