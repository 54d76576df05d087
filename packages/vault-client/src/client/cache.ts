import type { Secrets } from './secrets.ts'
import { cannotBeAsked, numberOption } from './transport.ts'

/** How long secrets are cached in memory. */
export type CacheOptions = {
  /** Up to this age, secrets are returned from memory without a request. */
  readonly freshMs: number
  /** Up to this age, they are returned from memory and refreshed in the background; `freshMs` by default. */
  readonly staleMs?: number
  /** Up to this age, they are returned from memory if the vault is unavailable; 0 by default. */
  readonly staleIfErrorMs?: number
}

export type SecretCache = {
  /** Returns the secrets of an environment from memory, or from `read`, which concurrent callers share. */
  get(env: string, read: () => Promise<Secrets>): Promise<Readonly<Secrets>>
  set(env: string, secrets: Secrets): void
  /** Removes one environment or all. The results of reads that are under way are not cached. */
  clear(env?: string): void
}

type Entry = { secrets: Readonly<Secrets>; readAt: number }

/**
 * @param now milliseconds of a monotonic clock
 * @throws VaultError `invalid_configuration` if a number is out of range
 */
export function createSecretCache(options: CacheOptions, now: () => number): SecretCache {
  const freshMs = numberOption('freshMs', options.freshMs)
  const staleMs = numberOption('staleMs', options.staleMs ?? freshMs)
  const staleIfErrorMs = numberOption('staleIfErrorMs', options.staleIfErrorMs ?? 0)
  const entries = new Map<string, Entry>()
  const reading = new Map<string, Promise<Readonly<Secrets>>>()

  const refresh = (env: string, read: () => Promise<Secrets>): Promise<Readonly<Secrets>> => {
    const running = reading.get(env)
    if (running !== undefined) return running
    const started = now()
    const run: Promise<Readonly<Secrets>> = read().then(
      (secrets) => {
        if (reading.get(env) === run) {
          entries.set(env, { secrets, readAt: started })
          reading.delete(env)
        }
        return secrets
      },
      (error: unknown) => {
        if (reading.get(env) === run) reading.delete(env)
        throw error
      },
    )
    reading.set(env, run)
    return run
  }

  return {
    get: async (env, read) => {
      const entry = entries.get(env)
      const age = entry === undefined ? Number.POSITIVE_INFINITY : now() - entry.readAt
      if (entry !== undefined && age <= freshMs) return entry.secrets
      const refreshed = refresh(env, read)
      if (entry !== undefined && age <= staleMs) {
        // A caller without a usable entry receives the error.
        refreshed.catch(() => undefined)
        return entry.secrets
      }
      try {
        return await refreshed
      } catch (error) {
        if (entry !== undefined && now() - entry.readAt <= staleIfErrorMs && cannotBeAsked(error)) return entry.secrets
        throw error
      }
    },
    set: (env, secrets) => {
      reading.delete(env)
      entries.set(env, { secrets, readAt: now() })
    },
    clear: (env) => {
      if (env === undefined) {
        entries.clear()
        reading.clear()
      } else {
        entries.delete(env)
        reading.delete(env)
      }
    },
  }
}
