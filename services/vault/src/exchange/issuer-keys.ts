import { boundedMap } from '@vault-and-tracker/service-kit/core/cache'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { createLocalJWKSet, type JSONWebKeySet } from 'jose'
import { unavailableFor } from '../errors.ts'

/** Fetches the public keys that an issuer publishes. @throws Error with the reason, for the log */
export type FetchIssuerKeys = (issuer: string) => Promise<JSONWebKeySet>

/** The public keys of an issuer. */
export type IssuerKeySet = {
  readonly find: ReturnType<typeof createLocalJWKSet>
  readonly freshUntil: number
  /** When the keys were last fetched, or tried to be. */
  triedAt: number
}

/** A key that its issuer withdraws is accepted for this long. */
const FRESH_MS = 300_000
/** How often a token that is signed with an unknown key causes a fetch, so that forged tokens do not reach the issuer. */
const RENEW_EVERY_MS = 30_000
/** After a failure, the issuer is left alone for this long. */
const FAILED_MS = 10_000
/** There are as many trust rules. */
const MAX_ISSUERS = 1_000

/** The public keys of issuers. */
export type IssuerKeys = ReturnType<typeof createIssuerKeys>

/**
 * Caches the public keys of issuers. Requests that need the same keys at the same time share one fetch.
 *
 * @param deps `onError` receives the reason why keys could not be fetched
 */
export function createIssuerKeys(deps: {
  fetchKeys: FetchIssuerKeys
  clock: Clock
  onError: (issuer: string, error: unknown) => void
}) {
  const { fetchKeys, clock, onError } = deps
  const known = boundedMap<string, IssuerKeySet>(MAX_ISSUERS)
  const failures = boundedMap<string, { readonly until: number }>(MAX_ISSUERS)
  const loading = new Map<string, Promise<IssuerKeySet>>()

  function load(issuer: string): Promise<IssuerKeySet> {
    const running = loading.get(issuer)
    if (running !== undefined) return running
    const left = (failures.get(issuer)?.until ?? 0) - clock.now()
    if (left > 0) return Promise.reject(unreachable(left))
    const started = fetchNow(issuer).finally(() => loading.delete(issuer))
    loading.set(issuer, started)
    return started
  }

  async function fetchNow(issuer: string): Promise<IssuerKeySet> {
    try {
      const keySet = await fetchKeys(issuer)
      const now = clock.now()
      const fetched = { find: createLocalJWKSet(keySet), freshUntil: now + FRESH_MS, triedAt: now }
      known.set(issuer, fetched)
      return fetched
    } catch (error) {
      failures.set(issuer, { until: clock.now() + FAILED_MS })
      onError(issuer, error)
      throw unreachable(FAILED_MS, error)
    }
  }

  return {
    /** Returns the keys of an issuer. @throws ApiError unavailable */
    get: async (issuer: string): Promise<IssuerKeySet> => {
      const found = known.get(issuer)
      return found !== undefined && found.freshUntil > clock.now() ? found : load(issuer)
    },

    /**
     * Returns newer keys than `used`, which do not have the one that a token names; undefined if they were fetched too
     * recently.
     *
     * @throws ApiError unavailable
     */
    renew: async (issuer: string, used: IssuerKeySet): Promise<IssuerKeySet | undefined> => {
      const found = known.get(issuer)
      if (found !== undefined && found !== used) return found
      const running = loading.get(issuer)
      if (running !== undefined) return running
      if (clock.now() - used.triedAt < RENEW_EVERY_MS) return undefined
      used.triedAt = clock.now()
      return load(issuer)
    },
  }
}

function unreachable(leftMs: number, cause?: unknown): Error {
  return unavailableFor(leftMs, 'The keys of the issuer cannot be fetched. Try again later.', cause)
}
