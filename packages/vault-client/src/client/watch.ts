import { type Changes, changesBetween, isUnchanged, type Secrets } from './secrets.ts'
import { sleep } from './transport.ts'

export type WatchOptions = {
  /** What is known already; the first reading where left out. */
  readonly known?: Readonly<Secrets>
  /** How often the environment is read; 30,000 ms by default. Each time a tenth earlier or later, at random. */
  readonly intervalMs?: number
  /** Told when something is different from the time before. */
  readonly onChange: (secrets: Secrets, changes: Changes) => unknown
  /** Told of each reading, also of one without a change, before `onChange`. */
  readonly onRead?: (secrets: Secrets) => unknown
  /** Told when the environment could not be read, or `onChange` or `onRead` failed. Watching goes on. */
  readonly onError?: (error: unknown) => unknown
  /** Ends the watching. */
  readonly signal?: AbortSignal
}

/** Ends the watching; resolves when nothing of it runs any more. */
export type Watch = { stop(): Promise<void> }

/** @param read reads the environment anew; it is given a signal that aborts it */
export function watchSecrets(
  read: (signal: AbortSignal) => Promise<Secrets>,
  { known: first, intervalMs = 30_000, onChange, onRead, onError, signal }: WatchOptions,
): Watch {
  const stopped = new AbortController()
  const ended = signal === undefined ? stopped.signal : AbortSignal.any([stopped.signal, signal])

  const tell = async (error: unknown): Promise<void> => {
    if (!ended.aborted) await Promise.resolve(onError?.(error)).catch(() => undefined)
  }
  const run = async (): Promise<void> => {
    let known: Readonly<Secrets> | undefined = first
    while (!ended.aborted) {
      try {
        const secrets = await read(ended)
        const changes = known === undefined ? undefined : changesBetween(known, secrets)
        known = secrets
        await onRead?.(secrets)
        if (changes !== undefined && !isUnchanged(changes)) await onChange(secrets, changes)
      } catch (error) {
        await tell(error)
      }
      await sleep(intervalMs * (0.9 + Math.random() / 5), ended).catch(() => undefined)
    }
  }
  const running = run()
  return {
    stop: () => {
      stopped.abort()
      return running
    },
  }
}
