import { VaultError } from './errors.ts'
import { type Changes, changesBetween, isUnchanged, type Secrets } from './secrets.ts'
import { sleep } from './transport.ts'

export type WatchOptions = {
  /** The secrets to compare the first read with. By default, the first read reports no changes. */
  readonly known?: Readonly<Secrets>
  /**
   * Time between reads; 30,000 ms by default, up to a tenth more or less at random. While the vault refuses the key
   * (401 or 403), the interval doubles, up to five minutes. `Retry-After` is respected.
   */
  readonly intervalMs?: number
  /** Called when secrets changed since the previous read. */
  readonly onChange: (secrets: Secrets, changes: Changes) => unknown
  /** Called after each read, before `onChange`. */
  readonly onRead?: (secrets: Secrets) => unknown
  /**
   * Receives errors of reads, `onChange` and `onRead`. Repetitions of the same error are left out. Watching continues.
   */
  readonly onError?: (error: unknown) => unknown
  /** Stops watching. */
  readonly signal?: AbortSignal
}

/** `stop` resolves when no read or callback is running any more. */
export type Watch = { stop(): Promise<void> }

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

/**
 * A refused key stays refused until an administrator acts, and frequent attempts would use up the limit of the address.
 */
const MAX_BACKOFF_MS = 300_000

function backoff(intervalMs: number, refusals: number): number {
  return Math.max(intervalMs, Math.min(intervalMs * 2 ** refusals, MAX_BACKOFF_MS))
}

function isRefusal(error: unknown): boolean {
  return error instanceof VaultError && (error.status === 401 || error.status === 403)
}
