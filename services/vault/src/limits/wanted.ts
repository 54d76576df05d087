import { apiError } from '../errors.ts'

/** Whether somebody still waits for a write. A write that was given up must not undo one that came after it. */
export type Wanted = {
  /** Aborted when the client has gone, or was told that it took too long. */
  readonly signal: AbortSignal
  /** @throws ApiError unavailable when nobody waits any more: to be called before every commit */
  assert(): void
}

/** Less than the ten seconds that clients wait; a statement may take six of them. */
const WRITE_MS = 8_000

/** @param onGone calls back when the client has closed its connection */
export function createWanted(onGone: (gone: () => void) => void, ms = WRITE_MS): Wanted {
  const given = new AbortController()
  const until = performance.now() + ms
  const timer = setTimeout(() => given.abort(), ms)
  onGone(() => {
    clearTimeout(timer)
    given.abort()
  })
  return {
    signal: given.signal,
    assert: () => {
      // The timer of a process that was frozen may not have run yet.
      if (given.signal.aborted || performance.now() >= until) throw givenUp()
    },
  }
}

/** That of work which no client waits for, such as a command. */
export function alwaysWanted(): Wanted {
  return { signal: new AbortController().signal, assert: () => undefined }
}

/** The result of work, or, when nobody waits for it any more, an error at once. @throws ApiError unavailable */
export function whileWanted<T>({ signal }: Wanted, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(givenUp())
    signal.addEventListener('abort', giveUp, { once: true })
    if (signal.aborted) giveUp()
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
  })
}

/** The error of a write that nobody waits for any more. */
export function givenUp(): Error {
  return apiError('unavailable', 'The write took too long. Try again in a moment.')
}
