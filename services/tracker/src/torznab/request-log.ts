import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import { isUnavailable } from '@vault-and-tracker/service-kit/core/unavailable'
import { cleanText, torznabError } from '@vault-and-tracker/torznab-xml'
import { type ClientFamily, clientFamily } from './client-family.ts'
import type { TorznabSettings } from './settings.ts'
import { type Rollup, rollUp } from './statistics-rollup.ts'
import { startOf } from './statistics-spans.ts'
import type { AnsweredRequest } from './torznab.ts'

/** A request as it is logged. */
export type LoggedRequest = {
  readonly id: string
  readonly at: Date
  readonly userId: string | null
  /** Otherwise it is counted by its address instead of logged, since whoever has no key may send any number. */
  readonly authorized: boolean
  /** An IPv4 address, or the /64 of an IPv6 address. */
  readonly address: string
  readonly function: string
  /** Names and values of the parameters, decoded, without the function and without keys; at most 500 characters. */
  readonly query: string
  readonly results: number
  readonly durationMs: number
  readonly error: number | null
  /** Counted, but not logged. */
  readonly refusedBy?: 'limit' | 'block' | undefined
  readonly client: ClientFamily
}

/** What an address asked in an hour that is counted instead of logged. */
export type AddressCount = {
  readonly hour: Date
  /** An IPv4 address, or the /64 of an IPv6 address. */
  readonly address: string
  requests: number
  wrongKeys: number
  /** Refused by a limit or by the block of the address. */
  overLimits: number
}

/** A request that waits, and whether it is logged; undefined where the settings could not be read when it came. */
type Waiting = { readonly request: LoggedRequest; readonly isLogged: Promise<boolean | undefined> }

/** Requests that are written together. The id keeps them from being written twice. */
export type RequestBatch = {
  readonly id: string
  readonly requests: readonly LoggedRequest[]
  readonly addresses: readonly AddressCount[]
  readonly rollup: Rollup
}

/** Where requests are written. */
export type RequestLogStore = {
  /**
   * Writes the requests of a batch and counts them, as one transaction; the oldest requests that the log has no room for
   * are deleted. A batch that was written before is skipped.
   *
   * @throws what `isUnavailable` recognises when Postgres is unavailable
   */
  write(batch: RequestBatch): Promise<void>
  /** Deletes requests before a time, and the record of which batches were written. @returns how many requests */
  prune(options: { requestsBefore: Date; batchesBefore: Date }): Promise<number>
}

/** Counts what became of requests. */
export type RequestLogCounters = {
  countWritten(requests: number): void
  countDropped(requests: number): void
  setWaiting(requests: number): void
}

const MAX_BATCH = 1_000
/** About 20 MB at most; what exceeds it while Postgres is unavailable is counted and dropped. Half is for authorized ones. */
const MAX_WAITING = 20_000
/** How long a stop waits for Postgres. */
const CLOSE_MS = 3_000
const CLOSE_RETRY_MS = 300
const MAX_QUERY = 500
/** Names of parameters with keys, also misspelt ones such as `apikey[]` and `amp;apikey`. */
const KEY_NAME = /(?:api|pass)_?key/i
/** Keys within values, such as that of an address that was pasted as a whole. */
const KEY_IN_VALUE = /(?:api|pass)_?key[^&=]{0,20}(?:=|%(?:25)*3d)/i
/** What may be a passkey, wherever somebody typed or pasted it. */
const PASSKEYS = /[0-9a-f]{40,}/gi
const REDACTED = '[redacted]'
/** Of requests that name no function that there is. */
const UNKNOWN_FUNCTION = 'unknown'
const DAY_MS = 86_400_000
const WRONG_KEY = torznabError('incorrectCredentials').code

/**
 * Writes answered requests in batches, after the answer: `record` only puts them into a bounded buffer. What
 * waits is written by `close`, so an orderly stop loses nothing unless Postgres is unavailable.
 *
 * @param deps `settings` tells, when a request is answered, whether it is logged; statistics are counted either way
 */
export function createRequestLog(deps: {
  store: RequestLogStore
  settings: () => Promise<TorznabSettings>
  counters: RequestLogCounters
  clock: Clock
  keepDays: number
  onError: (error: unknown) => void
}) {
  const { store, counters, clock } = deps
  let waiting: Waiting[] = []
  /** The batch under way, or the one that could not be written. */
  let batch: readonly Waiting[] = []
  let batchId = ''
  let flushing = Promise.resolve(true)

  const isLogging = async (): Promise<boolean> => (await deps.settings()).logging

  async function loggedOf(all: readonly Waiting[]): Promise<readonly LoggedRequest[]> {
    const logged: LoggedRequest[] = []
    for (const { request, isLogged } of all) if ((await isLogged) ?? (await isLogging())) logged.push(request)
    return logged
  }

  /** Writes one batch. @returns whether there may be more to write now */
  async function writeBatch(): Promise<boolean> {
    if (batch.length === 0) {
      batch = waiting.slice(0, MAX_BATCH)
      waiting = waiting.slice(MAX_BATCH)
      batchId = newId()
    }
    if (batch.length === 0) return false
    try {
      const logged = await loggedOf(batch)
      await store.write({
        id: batchId,
        requests: logged.filter(({ authorized }) => authorized),
        addresses: countAddresses(logged.filter(({ authorized }) => !authorized)),
        rollup: rollUp(batch.map(({ request }) => request)),
      })
      counters.countWritten(batch.length)
    } catch (error) {
      deps.onError(error)
      if (isUnavailable(error)) return false
      // What cannot be written at all must not stop what follows.
      counters.countDropped(batch.length)
    }
    batch = []
    return true
  }

  function flush(): Promise<boolean> {
    flushing = flushing.then(async () => {
      while (await writeBatch());
      counters.setWaiting(waiting.length + batch.length)
      return waiting.length + batch.length === 0
    })
    return flushing
  }

  return {
    /** Takes note of an answered request. Never waits and never fails. */
    record(request: AnsweredRequest): void {
      if (waiting.length + batch.length >= (request.authorized ? MAX_WAITING : MAX_WAITING / 2)) {
        counters.countDropped(1)
        return
      }
      const logged: LoggedRequest = {
        id: newId(),
        at: new Date(clock.now()),
        userId: request.userId ?? null,
        authorized: request.authorized,
        address: request.address,
        function: request.function ?? UNKNOWN_FUNCTION,
        query: readableQuery(request),
        results: request.results,
        durationMs: Math.max(0, request.durationMs),
        error: request.error ?? null,
        refusedBy: request.refusedBy,
        client: clientFamily(request.userAgent),
      }
      waiting.push({ request: logged, isLogged: isLogging().catch(() => undefined) })
      counters.setWaiting(waiting.length + batch.length)
    },

    /** Writes what waits, one flush at a time. @returns whether everything was written */
    flush,

    /** Deletes what is older than the retention. @returns how many requests */
    prune: () =>
      store.prune({
        requestsBefore: new Date(clock.now() - deps.keepDays * DAY_MS),
        batchesBefore: new Date(clock.now() - DAY_MS),
      }),

    /** Writes what waits and stops. Where Postgres does not answer, it gives up after three seconds. */
    async close(): Promise<void> {
      const deadline = performance.now() + CLOSE_MS
      const givenUp = new AbortController()
      const drain = async (): Promise<void> => {
        while (!(await flush()) && performance.now() < deadline) await sleep(CLOSE_RETRY_MS)
        givenUp.abort()
      }
      await Promise.race([drain(), sleep(CLOSE_MS, undefined, { signal: givenUp.signal }).catch(() => undefined)])
      counters.countDropped(waiting.length + batch.length)
    },
  }
}

/** Counts requests by hour and address, in the order in which their rows are locked. */
function countAddresses(requests: readonly LoggedRequest[]): readonly AddressCount[] {
  const counts = new Map<string, AddressCount>()
  for (const { at, address, error, refusedBy } of requests) {
    const hour = startOf('hour', at)
    const key = `${hour.toISOString()} ${address}`
    const count = counts.get(key) ?? { hour, address, requests: 0, wrongKeys: 0, overLimits: 0 }
    counts.set(key, count)
    count.requests += 1
    count.wrongKeys += error === WRONG_KEY ? 1 : 0
    count.overLimits += refusedBy === undefined ? 0 : 1
  }
  return [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count)
}

/**
 * The parameters of a query string for people to read: without the function, which has a column of its own, and keys,
 * which nobody may read; without control characters, some of which Postgres refuses. An info hash looks like a passkey, so the
 * only one that stays is that of a torrent that was found.
 */
function readableQuery({ rawQuery, infoHash }: Pick<AnsweredRequest, 'rawQuery' | 'infoHash'>): string {
  const parts = [...new URLSearchParams(rawQuery)]
    .filter(([name, value]) => name.trim().toLowerCase() !== 't' && !KEY_NAME.test(name) && !KEY_IN_VALUE.test(value))
    .map(([name, value]) => `${name}=${value}`)
  // Cleaned before, so that no character that is left out hides a passkey, and after, because a pair may have been cut in two.
  const text = cleanText(parts.join('&'))
  const redacted = text.replace(PASSKEYS, (found) => (found.toLowerCase() === infoHash ? found : REDACTED))
  return cleanText(redacted.slice(0, MAX_QUERY))
}
