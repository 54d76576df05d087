import { VaultError } from './errors.ts'
import { type Changes, changesBetween, isUnchanged, type Secrets } from './secrets.ts'
import { sleep } from './transport.ts'

export type WatchOptions = {
  /** What is known already; the first reading where left out. */
  readonly known?: Readonly<Secrets>
  /**
   * How often the environment is read; 30,000 ms by default. Each time a tenth earlier or later, at random. While the vault refuses
   * the key (401 or 403) the interval doubles, up to five minutes; a `Retry-After` is waited for.
   */
  readonly intervalMs?: number
  /** Told when something is different from the time before. */
  readonly onChange: (secrets: Secrets, changes: Changes) => unknown
  /** Told of each reading, also of one without a change, before `onChange`. */
  readonly onRead?: (secrets: Secrets) => unknown
  /** Receives why the environment could not be read, or `onChange` or `onRead` failed; the same error only once in a row. Watching goes on. */
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

  let told: string | undefined
  const tell = async (error: unknown): Promise<void> => {
    const kind = error instanceof VaultError ? error.code : String(error)
    if (ended.aborted || kind === told) return
    told = kind
    await Promise.resolve(onError?.(error)).catch(() => undefined)
  }
  const run = async (): Promise<void> => {
    let known: Readonly<Secrets> | undefined = first
    let refusals = 0
    while (!ended.aborted) {
      let waitMs = intervalMs
      try {
        const secrets = await read(ended)
        refusals = 0
        const changes = known === undefined ? undefined : changesBetween(known, secrets)
        known = secrets
        await onRead?.(secrets)
        if (changes !== undefined && !isUnchanged(changes)) await onChange(secrets, changes)
        told = undefined
      } catch (error) {
        await tell(error)
        refusals = isRefusal(error) ? refusals + 1 : 0
        waitMs = Math.max(backoff(intervalMs, refusals), error instanceof VaultError ? (error.retryAfterMs ?? 0) : 0)
      }
      await sleep(waitMs * (0.9 + Math.random() / 5), ended).catch(() => undefined)
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

/** A key that is refused stays refused until somebody acts: whoever asks as often as before uses up what others may ask. */
const MAX_BACKOFF_MS = 300_000

function backoff(intervalMs: number, refusals: number): number {
  return Math.max(intervalMs, Math.min(intervalMs * 2 ** refusals, MAX_BACKOFF_MS))
}

function isRefusal(error: unknown): boolean {
  return error instanceof VaultError && (error.status === 401 || error.status === 403)
}
