import type { Secrets } from './secrets.ts'
import { cannotBeAsked, numberOption } from './transport.ts'

/** How long secrets are kept in memory. */
export type CacheOptions = {
  /** Answered from memory for so long, without a request. */
  readonly freshMs: number
  /** After that, answered from memory while they are read again in the background, up to this age; `freshMs` by default. */
  readonly staleMs?: number
  /** Where the vault cannot be asked, answered from memory up to this age; 0 by default. */
  readonly staleIfErrorMs?: number
}

export type SecretCache = {
  /** The secrets of an environment: from memory, or as read by `read`, once for all who ask at the same moment. */
  get(env: string, read: () => Promise<Secrets>): Promise<Readonly<Secrets>>
  /** Keeps what was read. */
  set(env: string, secrets: Secrets): void
  /** Forgets an environment, or all. What is being read for those who wait is not kept. */
  clear(env?: string): void
}

type Entry = { secrets: Readonly<Secrets>; readAt: number }

/**
 * @param now milliseconds of a clock that only goes forward
 * @throws VaultError `invalid_configuration` when a number cannot be meant
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
        // Who asks after the error gets it.
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
