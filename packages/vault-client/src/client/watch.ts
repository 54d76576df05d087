import { VaultError } from './errors.ts'
import { type Changes, changesBetween, isUnchanged, type Secrets, type SecretsAtVersion } from './secrets.ts'
import { sleep } from './transport.ts'

export type WatchOptions = {
  /** The secrets to compare the first read with. By default, the first read reports no changes. */
  readonly known?: Readonly<Secrets>
  /**
   * The longest wait after an error, and the time between reads from a vault that cannot report changes; 30,000 ms by
   * default, up to a tenth more or less at random. While the vault refuses the key (401 or 403), the wait doubles from
   * there, up to five minutes. `Retry-After` is respected.
   */
  readonly intervalMs?: number
  /** Called when secrets changed since the previous read. */
  readonly onChange: (secrets: Secrets, changes: Changes) => unknown
  /** Called after each response, even if it reports no change, before `onChange`. */
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

/** The result of a read; without a version, the vault cannot report changes. */
export type Read = SecretsAtVersion | { readonly version: undefined; readonly secrets: Secrets }

/** Requests of a watch start this far apart, even if secrets change all the time. */
const PAUSE_MS = 2_000

/** The first wait after an error. It doubles with each further error. */
const FIRST_WAIT_MS = 1_000

export function watchSecrets({
  read,
  onCurrent,
  options: { known: first, intervalMs = 30_000, onChange, onRead, onError, signal },
}: {
  /** Reads the environment as soon as it has another version than `since`. */
  read: (since: string | undefined, signal: AbortSignal) => Promise<Read>
  /** Receives the secrets after each response. */
  onCurrent: (secrets: Secrets) => void
  options: WatchOptions
}): Watch {
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
    let known: Secrets | undefined = first
    let version: string | undefined
    let [failures, refusals] = [0, 0]
    while (!ended.aborted) {
      const started = performance.now()
      let waitMs = intervalMs
      try {
        const found = await read(version, ended)
        failures = refusals = 0
        version = found.version
        // Without secrets, they are the known ones.
        const secrets = found.secrets ?? known ?? {}
        const changes = known === undefined ? undefined : changesBetween(known, secrets)
        known = secrets
        onCurrent(secrets)
        await onRead?.(secrets)
        if (changes !== undefined && !isUnchanged(changes)) await onChange(secrets, changes)
        told = undefined
        if (version !== undefined) waitMs = Math.max(0, Math.min(PAUSE_MS, intervalMs) - (performance.now() - started))
      } catch (error) {
        await tell(error)
        failures += 1
        refusals = isRefusal(error) ? refusals + 1 : 0
        const ownMs = refusals > 0 ? refusedMs(intervalMs, refusals) : Math.min(failedMs(failures), intervalMs)
        waitMs = Math.max(ownMs, error instanceof VaultError ? (error.retryAfterMs ?? 0) : 0)
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

/** Shortened at random, so that the watchers of a vault that restarts do not all come back at once. */
function failedMs(failures: number): number {
  return FIRST_WAIT_MS * 2 ** (failures - 1) * (0.5 + Math.random() / 2)
}

/**
 * A refused key stays refused until an administrator acts, and frequent attempts would use up the limit of the address.
 */
const MAX_BACKOFF_MS = 300_000

function refusedMs(intervalMs: number, refusals: number): number {
  return Math.max(intervalMs, Math.min(intervalMs * 2 ** refusals, MAX_BACKOFF_MS))
}

function isRefusal(error: unknown): boolean {
  return error instanceof VaultError && (error.status === 401 || error.status === 403)
}
