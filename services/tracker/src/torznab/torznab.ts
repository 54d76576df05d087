import type { ApiError } from '@vault-and-tracker/service-kit/core/errors'
import { isUnavailable } from '@vault-and-tracker/service-kit/core/unavailable'
import {
  type Format,
  parseTorznabQuery,
  type TorznabFunction,
  type TorznabQuery,
  type TorznabRequest,
  torznabError,
} from '@vault-and-tracker/torznab-xml'
import { type ErrorCode, isApiError } from '../errors.ts'
import { SUPPORTED_PARAMETERS } from '../search/supported-parameters.ts'
import type { Answers, AuthorizedCaller } from './answers.ts'
import type { Authorize } from './authorization.ts'
import { PAGE_LIMITS } from './capabilities.ts'
import { type Outcome, type Refusal, refusal } from './outcome.ts'
import type { TorznabSettings } from './settings.ts'

/** A request as it arrived. */
export type Asked = {
  /** The query string, without its question mark. */
  readonly rawQuery: string
  /** Where it came from, IPv4 or IPv6 as text. */
  readonly address: string
}

/** An outcome, with what is known of the request. */
export type Answer = {
  readonly format: Format
  /** Undefined where the request names none that there is. */
  readonly function: TorznabFunction | 'download' | undefined
  readonly userId: string | undefined
  /** Of the one torrent that was asked for, where there is one: 40 lower-case hex digits. */
  readonly infoHash?: string | undefined
  /** Whether the request had a valid key and was within the limits, whatever it was answered with. */
  readonly authorized: boolean
  readonly outcome: Outcome
}

/** A request that was answered, for the request log and the statistics. */
export type AnsweredRequest = Pick<Answer, 'function' | 'userId' | 'authorized' | 'infoHash'> & {
  /** Where it came from: an IPv4 address, or the /64 of an IPv6 address. */
  readonly address: string
  /** As it arrived, with the key. */
  readonly rawQuery: string
  /** How many items were returned; 1 for a download. */
  readonly results: number
  readonly durationMs: number
  /** The Torznab error code; undefined for a success. */
  readonly error: number | undefined
  /** Whether a limit or the block of the address refused it; undefined where neither did. */
  readonly refusedBy?: 'limit' | 'block' | undefined
  readonly userAgent: string
}

/** Called after every request that was answered, caps included. Returns at once and never throws. */
export type OnAnswered = (request: AnsweredRequest) => void

export type Torznab = ReturnType<typeof createTorznab>

/** When to ask again while Postgres or Redis is unavailable. */
const UNAVAILABLE_RETRY_SECONDS = 5

const UNAVAILABLE: Refusal = {
  error: { ...torznabError('unknownError'), status: 503, description: 'The service is unavailable for the moment' },
  retryAfterSeconds: UNAVAILABLE_RETRY_SECONDS,
}

/**
 * The Torznab API (Torznab 1.3, Newznab Web API). It answers whatever happens: when Postgres or Redis is unavailable, with
 * error 900 and status 503.
 */
export function createTorznab(deps: {
  settings: () => Promise<TorznabSettings>
  authorize: Authorize
  answers: Answers
  /** Gets every error that is a fault of ours. */
  onError: (error: unknown) => void
}) {
  const { authorize, answers } = deps

  /** The order of the checks: whether the API is on, missing and unknown parameters, the caller and their limits, the query. */
  async function outcomeOf(
    request: TorznabRequest,
    kind: 'search' | 'download',
    address: string,
  ): Promise<Pick<Answer, 'userId' | 'authorized' | 'infoHash' | 'outcome'>> {
    const settings = await deps.settings()
    if (!settings.enabled) return anonymous(refusal({ error: torznabError('apiDisabled') }))
    if (request.ok && request.query.function === 'caps') return anonymous(await answers.caps())
    if (!request.ok && request.error.kind !== 'incorrectParameter') return anonymous(refusal(request))

    const authorization = await authorize(request.apiKey ?? '', { address, kind }, settings)
    const userId = authorization.caller?.id
    if (!authorization.authorized) return { userId, authorized: false, outcome: refusal(authorization) }
    if (!request.ok) return { userId, authorized: true, outcome: refusal(request) }
    const { query } = request
    const outcome = await outcomeFor(query, kind, authorization).catch(failed)
    const isFound = query.function === 'details' && outcome.kind !== 'refusal'
    return { userId, authorized: true, infoHash: isFound ? query.infoHash : undefined, outcome }
  }

  /** What a request is answered with whose user was authorized. */
  function outcomeFor(
    query: TorznabQuery,
    kind: 'search' | 'download',
    authorized: AuthorizedCaller,
  ): Promise<Outcome> {
    if (query.function === 'caps') return answers.caps()
    if (query.function !== 'details') return answers.search(query, authorized)
    return kind === 'download' ? answers.file(query.infoHash, authorized) : answers.details(query.infoHash, authorized)
  }

  function failed(error: unknown): Outcome {
    if (isUnavailable(error)) return refusal(UNAVAILABLE)
    const refused = isApiError(error) ? refusalOf(error) : undefined
    if (refused !== undefined) return refusal(refused)
    deps.onError(error)
    return refusal({ error: torznabError('unknownError') })
  }

  async function answer(rawQuery: string, kind: 'search' | 'download', address: string): Promise<Answer> {
    const request = parseTorznabQuery(rawQuery, { supported: SUPPORTED_PARAMETERS, limits: PAGE_LIMITS })
    const answered = await outcomeOf(request, kind, address).catch((error: unknown) => anonymous(failed(error)))
    return { format: request.format, function: kind === 'download' ? kind : request.function, ...answered }
  }

  return {
    /** Answers a request for a function. */
    answer: ({ rawQuery, address }: Asked): Promise<Answer> => answer(rawQuery, 'search', address),

    /** Answers a request for a .torrent file, which names it as `details` does: `id` is its info hash. */
    download: ({ rawQuery, address }: Asked): Promise<Answer> => answer(`t=details&${rawQuery}`, 'download', address),
  }
}

/** What a search is refused with. */
function refusalOf({ code, message }: ApiError<ErrorCode>): Refusal | undefined {
  if (code === 'BAD_REQUEST') return { error: torznabError('incorrectParameter', message) }
  if (code === 'RATE_LIMITED')
    return { error: torznabError('requestLimitReached'), retryAfterSeconds: UNAVAILABLE_RETRY_SECONDS }
  if (code === 'UNAVAILABLE') return { ...UNAVAILABLE, error: { ...UNAVAILABLE.error, description: message } }
  return undefined
}

function anonymous(outcome: Outcome): Pick<Answer, 'userId' | 'authorized' | 'outcome'> {
  return { userId: undefined, authorized: false, outcome }
}
