import { parsePasskey } from '@vault-and-tracker/bencode-tracker'
import type { ApiError } from '@vault-and-tracker/service-kit/core/errors'
import { isUnavailable } from '@vault-and-tracker/service-kit/core/unavailable'
import {
  type Format,
  parseTorznabQuery,
  type TorznabError,
  type TorznabFunction,
  type TorznabQuery,
  type TorznabRequest,
  torznabError,
} from '@vault-and-tracker/torznab-xml'
import { type Accounts, exclusionOf } from '../accounts/accounts.ts'
import type { Lookups } from '../announce/lookups.ts'
import { type ErrorCode, isApiError } from '../errors.ts'
import type { ApiTokens } from '../tokens/api-tokens.ts'
import type { Scope } from '../tokens/scopes.ts'
import { isTokenText } from '../tokens/token-text.ts'
import type { Answers, AuthorizedCaller, Outcome, Refusal, TorznabCaller } from './answers.ts'
import type { LimitedRequest, TorznabLimits } from './limits.ts'
import { PAGE_LIMITS, SUPPORTED_PARAMETERS } from './search-query.ts'
import type { TorznabConfiguration, TorznabSettings } from './settings.ts'

/** A request as it arrived. */
export type Asked = {
  /** The query string, without its question mark. */
  readonly rawQuery: string
  /** IPv4 or IPv6 as text. */
  readonly address: string
}

type Answered = {
  readonly userId: string | undefined
  /** The info hash of the requested torrent, if it exists, in lower-case hex. */
  readonly infoHash?: string | undefined
  /** Whether the request had a valid key and was within the limits, regardless of the outcome. */
  readonly authorized: boolean
  readonly outcome: Outcome
}

export type Answer = Answered & {
  readonly format: Format
  /** Undefined if the request names no existing function. */
  readonly function: TorznabFunction | 'download' | undefined
  /** Whether logging is on. */
  readonly logged: boolean
}

/** An answered request, for the request log and the statistics. */
export type AnsweredRequest = Omit<Answer, 'format' | 'outcome'> & {
  /** An IPv4 address, or the /64 of an IPv6 address. */
  readonly address: string
  /** The query string as received, including the key. */
  readonly rawQuery: string
  /** The number of returned items; 1 for a download. */
  readonly results: number
  readonly durationMs: number
  /** The Torznab error code; undefined for a success. */
  readonly error: number | undefined
  /** Undefined unless a limit or the block of the address refused it. */
  readonly refusedBy?: 'limit' | 'block' | undefined
  readonly userAgent: string
}

/** An authorized caller, or a refusal with the owner of the key, if any. */
type Authorization =
  | (AuthorizedCaller & { readonly refusal: undefined })
  | { readonly caller: TorznabCaller | undefined; readonly refusal: Refusal }

type KeyOwner = {
  readonly caller: TorznabCaller | undefined
  readonly missingScope?: Scope | undefined
  /** Why a key that exists is not accepted. */
  readonly hint?: string | undefined
}

export type Torznab = ReturnType<typeof createTorznab>

const UNAVAILABLE_RETRY_SECONDS = 5

const API_DISABLED: Outcome = { kind: 'refusal', error: torznabError('apiDisabled') }

const UNAVAILABLE: Refusal = {
  error: { ...torznabError('unknownError'), status: 503, description: 'The service is temporarily unavailable' },
  retryAfterSeconds: UNAVAILABLE_RETRY_SECONDS,
}

/**
 * The Torznab API (Torznab 1.3, Newznab Web API). It always answers: when Postgres or Redis is unavailable, with error 900
 * and status 503.
 */
export function createTorznab(deps: {
  settings: Pick<TorznabConfiguration, 'current'>
  lookups: Pick<Lookups, 'user'>
  tokens: Pick<ApiTokens, 'find'>
  accounts: Pick<Accounts, 'byId'>
  limits: TorznabLimits
  answers: Answers
  /** Called with every unexpected error. */
  onError: (error: unknown) => void
}) {
  const { lookups, tokens, limits, answers } = deps

  /** The order of the checks: whether the API is on, missing and unknown parameters, the caller and their limits, the query. */
  async function answerWith(
    settings: TorznabSettings,
    request: TorznabRequest,
    kind: 'search' | 'download',
    address: string,
  ): Promise<Answered> {
    if (!settings.enabled) return anonymous(API_DISABLED)
    if (request.ok && request.query.function === 'caps') return anonymous(await answers.caps())
    if (!request.ok && request.error.kind !== 'incorrectParameter')
      return anonymous({ kind: 'refusal', error: request.error })

    const authorization = await authorize(request.apiKey ?? '', { address, kind }, settings)
    const userId = authorization.caller?.id
    if (authorization.refusal !== undefined)
      return { userId, authorized: false, outcome: { kind: 'refusal', ...authorization.refusal } }
    if (!request.ok) return { userId, authorized: true, outcome: { kind: 'refusal', error: request.error } }
    const { query } = request
    const outcome = await outcomeOf(query, kind, authorization).catch(failed)
    const isFound = query.function === 'details' && outcome.kind !== 'refusal'
    return { userId, authorized: true, infoHash: isFound ? query.infoHash : undefined, outcome }
  }

  /**
   * Accepts requests of active users who are within their limits and not blocked, from addresses that are not blocked. Limits
   * are checked first, so that they also apply to suspended and blocked users. The key of a banned account counts as a
   * wrong key, which does not reveal its owner.
   */
  async function authorize(
    apiKey: string,
    { address, kind }: Pick<LimitedRequest, 'address' | 'kind'>,
    { windowSeconds, searchLimit, downloadLimit }: TorznabSettings,
  ): Promise<Authorization> {
    const { caller, missingScope, hint } = await ownerOf(apiKey, { address, kind })
    if (caller === undefined || caller.state === 'banned') {
      const wait = await limits.takeWrongKey(address)
      return {
        caller,
        refusal: wait > 0 ? overLimit('limit', wait) : { error: torznabError('incorrectCredentials', hint) },
      }
    }
    const limit = kind === 'search' ? searchLimit : downloadLimit
    const verdict = await limits.take({ userId: caller.id, address, kind, limit, windowSeconds })
    if (!verdict.allowed) return { caller, refusal: overLimit(verdict.by, verdict.retryAfterSeconds) }
    if (caller.state === 'suspended') return { caller, refusal: { error: await suspension(caller.id) } }
    if (caller.apiBlocked) return { caller, refusal: { error: torznabError('notAuthorized') } }
    if (missingScope !== undefined) {
      const error = torznabError('notAuthorized', `this API token does not have the scope ${missingScope}`)
      return { caller, refusal: { error } }
    }
    const { searches, downloads } = verdict.usage
    return {
      caller,
      refusal: undefined,
      limits: { apiCurrent: searches, apiMax: searchLimit, grabCurrent: downloads, grabMax: downloadLimit },
    }
  }

  /** The owner of a key; none for a passkey that they disabled for the API, or a token that is not valid. */
  async function ownerOf(
    apiKey: string,
    { address, kind }: Pick<LimitedRequest, 'address' | 'kind'>,
  ): Promise<KeyOwner> {
    if (!isTokenText(apiKey)) {
      const user = await userOf(apiKey)
      if (user?.opensTorznab === true) return { caller: { ...user, apiKey, tokenId: undefined } }
      return { caller: undefined, hint: user?.state === 'active' ? 'this key only announces' : undefined }
    }
    const scope = kind === 'search' ? 'torznab' : 'download'
    const { holder, refusal } = await tokens.find(apiKey, { scope, address })
    const user = holder && (await userOf(holder.account.passkey))
    if (holder === undefined || user === undefined) return { caller: undefined, hint: refusal?.hint }
    const { state, role, apiBlocked } = holder.account
    const caller = { ...user, state, role, apiBlocked, apiKey, tokenId: holder.id }
    return { caller, missingScope: refusal?.reason === 'scope' ? scope : undefined }
  }

  async function userOf(key: string): Promise<Omit<TorznabCaller, 'apiKey' | 'tokenId'> | undefined> {
    const passkey = parsePasskey(key)
    const user = passkey && (await lookups.user(passkey))
    return passkey && user && { ...user, passkey }
  }

  /** With the reason and the end, which cached users lack. */
  async function suspension(userId: string): Promise<TorznabError> {
    const error = torznabError('accountSuspended')
    return { ...error, description: error.description + exclusionOf(await deps.accounts.byId(userId)) }
  }

  function outcomeOf(query: TorznabQuery, kind: 'search' | 'download', authorized: AuthorizedCaller): Promise<Outcome> {
    if (query.function === 'caps') return answers.caps()
    if (query.function !== 'details') return answers.search(query, authorized)
    return kind === 'download' ? answers.file(query.infoHash, authorized) : answers.details(query.infoHash, authorized)
  }

  function failed(error: unknown): Outcome {
    const refusal = isUnavailable(error) ? UNAVAILABLE : isApiError(error) ? refusalOf(error) : undefined
    if (refusal !== undefined) return { kind: 'refusal', ...refusal }
    deps.onError(error)
    return { kind: 'refusal', error: torznabError('unknownError') }
  }

  async function answer(rawQuery: string, kind: 'search' | 'download', address: string): Promise<Answer> {
    const request = parseTorznabQuery(rawQuery, { supported: SUPPORTED_PARAMETERS, limits: PAGE_LIMITS })
    const known = { format: request.format, function: kind === 'download' ? kind : request.function }
    let logged = false
    try {
      const settings = await deps.settings.current()
      logged = settings.logging
      return { ...known, logged, ...(await answerWith(settings, request, kind, address)) }
    } catch (error) {
      return { ...known, logged, ...anonymous(failed(error)) }
    }
  }

  return {
    /** The definition of this indexer for Prowlarr and Jackett, which needs no key, like caps. */
    async definition(): Promise<Outcome> {
      try {
        const settings = await deps.settings.current()
        return settings.enabled ? await answers.definition(settings) : API_DISABLED
      } catch (error) {
        return failed(error)
      }
    },

    /** Answers a request for a function. */
    answer: ({ rawQuery, address }: Asked): Promise<Answer> => answer(rawQuery, 'search', address),

    /** Answers a request for a .torrent file, which is named as in `details`: `id` is its info hash. */
    download: ({ rawQuery, address }: Asked): Promise<Answer> => answer(`t=details&${rawQuery}`, 'download', address),
  }
}

function overLimit(by: 'limit' | 'block', retryAfterSeconds: number): Refusal {
  return { error: torznabError('requestLimitReached'), by, retryAfterSeconds }
}

/** The refusal for a failed search; undefined for an unexpected error. */
function refusalOf({ code, message }: ApiError<ErrorCode>): Refusal | undefined {
  if (code === 'BAD_REQUEST') return { error: torznabError('incorrectParameter', message) }
  if (code === 'RATE_LIMITED')
    return { error: torznabError('requestLimitReached'), retryAfterSeconds: UNAVAILABLE_RETRY_SECONDS }
  if (code === 'UNAVAILABLE') return { ...UNAVAILABLE, error: { ...UNAVAILABLE.error, description: message } }
  return undefined
}

function anonymous(outcome: Outcome): Answered {
  return { userId: undefined, authorized: false, outcome }
}
