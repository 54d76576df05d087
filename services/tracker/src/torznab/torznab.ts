import { type BatcherOptions, createBatcher } from '@vault-and-tracker/service-kit/batch'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { ApiError } from '@vault-and-tracker/service-kit/errors'
import {
  type Caps,
  type Feed,
  type Format,
  parseTorznabQuery,
  type TorznabFunction,
  type TorznabRequest,
  type SearchQuery as TorznabSearch,
  torznabError,
} from '@vault-and-tracker/torznab-xml'
import type { Multipliers } from '../announce/directory.ts'
import type { Category } from '../categories/categories.ts'
import type { Found, Search } from '../search/search.ts'
import type { Torrents } from '../torrents/torrents.ts'
import { type Admission, createAdmit, type Refusal } from './admission.ts'
import type { Callers, TorznabCaller } from './callers.ts'
import { capsOf, PAGE_LIMITS, type Site, SUPPORTED } from './capabilities.ts'
import { feedItems } from './feed-items.ts'
import type { TorznabLimits } from './ladder.ts'
import { toSearchQuery } from './search-query.ts'
import type { TorznabSettings } from './settings.ts'

/** A request as it arrived. */
export type Asked = {
  /** The query string, without its question mark. */
  readonly rawQuery: string
  /** Where it came from, IPv4 or IPv6 as text. */
  readonly address: string
}

/** What a request is answered with. */
export type Outcome =
  | { readonly kind: 'caps'; readonly caps: Caps }
  | { readonly kind: 'feed'; readonly feed: Feed }
  | { readonly kind: 'file'; readonly name: string; readonly bytes: Buffer }
  | ({ readonly kind: 'refusal' } & Refusal)

/** An outcome, with what is known of the request. */
export type Answer = {
  readonly format: Format
  /** Undefined where the request names none that there is. */
  readonly function: TorznabFunction | 'download' | undefined
  readonly userId: string | undefined
  readonly outcome: Outcome
}

/** A request that was answered, for the request log and the statistics. */
export type AnsweredRequest = Pick<Answer, 'function' | 'userId'> & {
  /** Names and values of what was asked, without the key and the function; at most 1,000 characters. */
  readonly query: string
  /** How many items were returned; 1 for a download. */
  readonly results: number
  readonly durationMs: number
  /** The Torznab error code; undefined for a success. */
  readonly error: number | undefined
  readonly userAgent: string
  readonly address: string
}

/** Hears of every request that was answered, caps included. Returns at once and never throws. */
export type OnAnswered = (request: AnsweredRequest) => void

export type Torznab = ReturnType<typeof createTorznab>

/** What the whole site holds and items are made with. */
type SiteState = { readonly categories: readonly Category[]; readonly multipliers: Multipliers }

/** Requests of the same moment share one read of the categories and multipliers, which is thereby never outdated. */
const SITE_READS: BatcherOptions = { concurrency: 2, maxBatchSize: 1_000, lingerMs: 1, isReady: () => false }

/** When to ask again while Postgres or Redis is away. */
const UNAVAILABLE_RETRY_SECONDS = 5

/**
 * The Torznab API (Torznab 1.3, Newznab Web API). It answers whatever happens: when Postgres or Redis is away, with
 * error 900 and status 503.
 */
export function createTorznab(deps: {
  site: Site
  settings: () => Promise<TorznabSettings>
  callers: Callers
  limits: TorznabLimits
  search: Pick<Search, 'find' | 'byInfoHash'>
  torrents: Pick<Torrents, 'download'>
  categories: { all(): Promise<readonly Category[]> }
  siteMultipliers: () => Promise<Multipliers>
  clock: Clock
  /** Whether an error means that Postgres or Redis is away. */
  isOutage: (error: unknown) => boolean
  /** Gets every error that is a fault of ours. */
  reportError: (error: unknown) => void
}) {
  const { site, search, clock } = deps
  const admit = createAdmit(deps)
  const readSite = createBatcher<null, SiteState>(async (requests) => {
    const [categories, multipliers] = await Promise.all([deps.categories.all(), deps.siteMultipliers()])
    return requests.map(() => ({ categories, multipliers }))
  }, SITE_READS)

  async function feedOf(
    { caller, limits }: Extract<Admission, { admitted: true }>,
    query: TorznabSearch | { readonly function: 'details'; readonly infoHash: string },
  ): Promise<Outcome> {
    const state = await readSite(null)
    const found = await (query.function === 'details' ? findOne(query.infoHash) : findPage(query, state))
    if (found === undefined) return refusal({ error: torznabError('noSuchItem') })
    const { publicUrl, title } = site
    return {
      kind: 'feed',
      feed: {
        title,
        description: `Torrents of ${title}`,
        siteUrl: `${publicUrl}/`,
        selfUrl: `${publicUrl}/api/torznab?t=${query.function}`,
        offset: query.function === 'details' ? 0 : query.offset,
        total: found.total,
        limits,
        items: feedItems(found.items, { caller, publicUrl, ...state }),
      },
    }
  }

  async function findPage(query: TorznabSearch, { categories }: SiteState): Promise<Pick<Found, 'items' | 'total'>> {
    const wanted = toSearchQuery(query, categories, clock.now())
    return wanted === undefined ? { items: [], total: 0 } : search.find(wanted)
  }

  async function findOne(infoHash: string): Promise<Pick<Found, 'items' | 'total'> | undefined> {
    const torrent = await search.byInfoHash(infoHash)
    return torrent && { items: [torrent], total: 1 }
  }

  async function fileOf(infoHash: string, caller: TorznabCaller): Promise<Outcome> {
    const torrent = await search.byInfoHash(infoHash)
    if (torrent === undefined) return refusal({ error: torznabError('noSuchItem') })
    try {
      return { kind: 'file', ...(await deps.torrents.download(torrent.id, caller)) }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return refusal({ error: torznabError(error.code === 'FORBIDDEN' ? 'notAuthorized' : 'noSuchItem') })
    }
  }

  /** The outcome of a request with a key, and whose key it is. */
  async function withCaller(
    request: TorznabRequest & { readonly apiKey: string },
    address: string,
    isDownload: boolean,
    settings: TorznabSettings,
  ): Promise<Pick<Answer, 'userId' | 'outcome'>> {
    const kind = isDownload ? 'download' : 'search'
    const admission = await admit(request.apiKey, { address, kind }, settings)
    const userId = admission.caller?.id
    const { ok } = request
    if (!admission.admitted) return { userId, outcome: refusal(admission) }
    if (!ok) return { userId, outcome: refusal(request) }
    const { query } = request
    if (query.function === 'caps') return { userId, outcome: await caps() }
    if (isDownload && query.function === 'details')
      return { userId, outcome: await fileOf(query.infoHash, admission.caller) }
    return { userId, outcome: await feedOf(admission, query) }
  }

  async function caps(): Promise<Outcome> {
    return { kind: 'caps', caps: capsOf(site, (await readSite(null)).categories) }
  }

  async function answer(
    request: TorznabRequest,
    address: string,
    isDownload: boolean,
  ): Promise<Pick<Answer, 'userId' | 'outcome'>> {
    const settings = await deps.settings()
    if (!settings.enabled) return anonymous(refusal({ error: torznabError('apiDisabled') }))
    if (request.ok && request.query.function === 'caps') return anonymous(await caps())
    const { apiKey } = request
    // Where a parameter is missing or the function unknown there is nothing to admit, and nothing that costs.
    if (!request.ok && request.error.kind !== 'incorrectParameter') return anonymous(refusal(request))
    if (apiKey === undefined) return anonymous(refusal({ error: torznabError('missingParameter', 'apikey') }))
    return withCaller({ ...request, apiKey }, address, isDownload, settings)
  }

  async function answerAlways(rawQuery: string, address: string, isDownload: boolean): Promise<Answer> {
    const request = parseTorznabQuery(rawQuery, { supported: SUPPORTED, limits: PAGE_LIMITS })
    const answered = await answer(request, address, isDownload).catch((error: unknown) => {
      if (deps.isOutage(error)) return anonymous(refusal(UNAVAILABLE))
      deps.reportError(error)
      return anonymous(refusal({ error: torznabError('unknownError') }))
    })
    return { format: request.format, function: isDownload ? 'download' : request.function, ...answered }
  }

  return {
    /** Answers a request for a function. */
    answer: ({ rawQuery, address }: Asked): Promise<Answer> => answerAlways(rawQuery, address, false),

    /** Answers a request for a .torrent file, which names it as `details` does: `id` is its info hash. */
    download: ({ rawQuery, address }: Asked): Promise<Answer> => answerAlways(`t=details&${rawQuery}`, address, true),
  }
}

const UNAVAILABLE: Refusal = {
  error: { ...torznabError('unknownError'), status: 503, description: 'The service is unavailable for the moment' },
  retryAfterSeconds: UNAVAILABLE_RETRY_SECONDS,
}

function anonymous(outcome: Outcome): Pick<Answer, 'userId' | 'outcome'> {
  return { userId: undefined, outcome }
}

function refusal({ error, retryAfterSeconds }: Refusal): Outcome {
  return { kind: 'refusal', error, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }
}
