import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import { isUnavailable } from '@vault-and-tracker/service-kit/core/unavailable'
import { cleanText } from '@vault-and-tracker/torznab-xml'
import type { AnsweredRequest } from './torznab.ts'

/** An answered request as it is stored. */
export type LoggedRequest = Omit<AnsweredRequest, 'function' | 'rawQuery' | 'infoHash' | 'userAgent'> & {
  readonly id: string
  readonly at: Date
  readonly function: string
  /** Names and values of the parameters, decoded, without the function and without keys; at most 500 characters. */
  readonly query: string
  /** The family of the application. */
  readonly client: string
}

/** Requests that are written together. The id prevents writing them twice. */
export type RequestBatch = { readonly id: string; readonly requests: readonly LoggedRequest[] }

/** Stores requests. */
export type RequestLogStore = {
  /**
   * Counts the requests of a batch and adds authorized ones to the log, in one transaction. Other requests are counted by
   * address, because clients without a key may send any number. Deletes the oldest requests beyond the bounds of the log.
   * A batch that was already written is skipped.
   *
   * @throws an error that `isUnavailable` recognises when Postgres is unavailable
   */
  write(batch: RequestBatch): Promise<void>
  /** Deletes requests before a time, and the ids of written batches. @returns how many requests */
  prune(options: { requestsBefore: Date; batchesBefore: Date }): Promise<number>
}

export type RequestLogCounters = {
  countWritten(requests: number): void
  countDropped(requests: number): void
  setWaiting(requests: number): void
}

export type RequestLog = ReturnType<typeof createRequestLog>

const MAX_BATCH = 1_000
/** About 20 MB. While Postgres is unavailable, further requests are dropped; half is reserved for authorized ones. */
const MAX_WAITING = 20_000
/** How long a stop waits for Postgres. */
const CLOSE_MS = 3_000
const CLOSE_RETRY_MS = 300
const MAX_QUERY = 500
/** Names of parameters with keys, including misspelt ones such as `apikey[]` and `amp;apikey`. */
const KEY_NAME = /(?:api|pass)_?key/i
/** Keys within values, such as in a pasted URL. */
const KEY_IN_VALUE = /(?:api|pass)_?key[^&=]{0,20}(?:=|%(?:25)*3d)/i
/** Possible passkeys and API tokens, in any parameter. */
const KEYS = /[0-9a-f]{40,}|vtt(?:_|%(?:25)*5f)[0-9a-z]+/gi
const REDACTED = '[redacted]'
const UNKNOWN_FUNCTION = 'unknown'
const DAY_MS = 86_400_000

/**
 * Families of applications by their User-Agent. The first match counts: applications come before the libraries they
 * use, and browsers late, because several applications send a browser's User-Agent with their own name in it.
 */
const FAMILIES = {
  Sonarr: /\b(?:Nzb)?sonarr\b|\bNzbDrone\b/i,
  Radarr: /\bradarr\b/i,
  Lidarr: /\blidarr\b/i,
  Whisparr: /\bwhisparr\b/i,
  Prowlarr: /\bprowlarr\b/i,
  Jackett: /\bjackett\b/i,
  NZBHydra2: /\bnzbhydra ?2?\b/i,
  'cross-seed': /\bcross-?seed\b/i,
  autobrr: /\bautobrr\b/i,
  FlexGet: /\bflexget\b/i,
  Medusa: /\bmedusa\b/i,
  SickChill: /\bsick(?:chill|rage|gear|beard)\b/i,
  Mylar: /\bmylar3?\b/i,
  qui: /^qui\//i,
  qBittorrent: /\bqbittorrent\b/i,
  browser: /^Mozilla\/\d.*\b(?:Firefox|Chrome|Safari|Gecko|Trident)\b|^Opera\//,
  library:
    /^(?:curl|Wget|python-requests|python-urllib|Python-httpx|aiohttp|Go-http-client|axios|node-fetch|undici|okhttp|Java|Apache-HttpClient|libwww-perl|Ruby|GuzzleHttp|RestSharp)\b|^node$/i,
} as const

/**
 * Writes answered requests in batches, after the answer: `record` only adds to a bounded buffer, and `close` writes the rest,
 * so an orderly stop loses nothing unless Postgres is unavailable.
 */
export function createRequestLog(deps: {
  store: RequestLogStore
  counters: RequestLogCounters
  clock: Clock
  keepDays: number
  onError: (error: unknown) => void
}) {
  const { store, counters, clock } = deps
  let waiting: LoggedRequest[] = []
  /** The batch being written, or the one that could not be written. */
  let batch: readonly LoggedRequest[] = []
  let batchId = ''
  let flushing = Promise.resolve(true)

  /** Writes one batch. @returns whether there may be more to write now */
  async function writeBatch(): Promise<boolean> {
    if (batch.length === 0) {
      batch = waiting.slice(0, MAX_BATCH)
      waiting = waiting.slice(MAX_BATCH)
      batchId = newId()
    }
    if (batch.length === 0) return false
    try {
      await store.write({ id: batchId, requests: batch })
      counters.countWritten(batch.length)
    } catch (error) {
      deps.onError(error)
      if (isUnavailable(error)) return false
      // A batch that can never be written must not block later ones.
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
    /** Adds an answered request. Never waits and never fails. */
    record(request: AnsweredRequest): void {
      if (waiting.length + batch.length >= (request.authorized ? MAX_WAITING : MAX_WAITING / 2)) {
        counters.countDropped(1)
        return
      }
      const { rawQuery, infoHash, userAgent, ...rest } = request
      waiting.push({
        ...rest,
        id: newId(),
        at: new Date(clock.now()),
        function: request.function ?? UNKNOWN_FUNCTION,
        query: readableQuery(rawQuery, infoHash),
        durationMs: Math.max(0, request.durationMs),
        client: clientFamily(userAgent),
      })
      counters.setWaiting(waiting.length + batch.length)
    },

    /** Writes waiting requests; a second call waits for the first. @returns whether all were written */
    flush,

    /** Deletes requests beyond the retention. @returns how many */
    prune: () =>
      store.prune({
        requestsBefore: new Date(clock.now() - deps.keepDays * DAY_MS),
        batchesBefore: new Date(clock.now() - DAY_MS),
      }),

    /** Writes waiting requests and stops; gives up after three seconds if Postgres does not respond. */
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

/**
 * The parameters of a query string in readable form: without the function, which has its own column, without keys, and
 * without control characters, some of which Postgres refuses. An info hash looks like a passkey, so only the hash of a torrent
 * that was found is kept.
 */
function readableQuery(rawQuery: string, infoHash: string | undefined): string {
  const parts = [...new URLSearchParams(rawQuery)]
    .filter(([name, value]) => name.trim().toLowerCase() !== 't' && !KEY_NAME.test(name) && !KEY_IN_VALUE.test(value))
    .map(([name, value]) => `${name}=${value}`)
  // Cleaned first, so that no removed character hides a passkey, and last, because the cut may split a surrogate pair.
  const text = cleanText(parts.join('&'))
  const redacted = text.replace(KEYS, (found) => (found.toLowerCase() === infoHash ? found : REDACTED))
  return cleanText(redacted.slice(0, MAX_QUERY))
}

/** The family of the application that sent a request. */
export function clientFamily(userAgent: string): string {
  const bounded = userAgent.slice(0, 300)
  return Object.entries(FAMILIES).find(([, pattern]) => pattern.test(bounded))?.[0] ?? 'other'
}
