import { type TorznabError, torznabError } from '@vault-and-tracker/torznab-xml'
import type { AuthorizedCaller } from './answers.ts'
import type { Callers, TorznabCaller } from './callers.ts'
import type { CountedRequest, TorznabLimits } from './ladder.ts'
import type { Refusal } from './outcome.ts'
import type { TorznabSettings } from './settings.ts'

/** A caller whose request was counted and may be answered, or a refusal. `caller` is whoever the key belongs to. */
export type Authorization =
  | ({ readonly authorized: true } & AuthorizedCaller)
  | ({ readonly authorized: false; readonly caller: TorznabCaller | undefined } & Refusal)

/** Lets a request in. @throws what `isUnavailable` recognises when Postgres or Redis is unavailable */
export type Authorize = (
  apiKey: string,
  request: Pick<CountedRequest, 'address' | 'kind'>,
  settings: TorznabSettings,
) => Promise<Authorization>

/**
 * Who may use the API: active users who are not blocked from it, within their limits, from an address that is not
 * blocked. The limits come first, so that the requests of suspended and blocked users are limited too. A banned account
 * is a wrong key, so that nobody learns whose key it was.
 */
export function createAuthorize({ callers, limits }: { callers: Callers; limits: TorznabLimits }): Authorize {
  return async (apiKey, { address, kind }, settings) => {
    const caller = await callers.byKey(apiKey)
    const refused = (error: TorznabError): Authorization => ({ authorized: false, caller, error })
    const overLimit = (by: 'limit' | 'block', retryAfterSeconds: number): Authorization => {
      const error = torznabError('requestLimitReached')
      return { authorized: false, caller, error, by, retryAfterSeconds }
    }

    if (caller === undefined || caller.state === 'banned') {
      const wait = await limits.takeWrongKey(address)
      return wait > 0 ? overLimit('limit', wait) : refused(torznabError('incorrectCredentials'))
    }
    const { windowSeconds, searchLimit, downloadLimit } = settings
    const limit = kind === 'search' ? searchLimit : downloadLimit
    const verdict = await limits.take({ userId: caller.id, address, kind, limit, windowSeconds })
    if (!verdict.allowed) return overLimit(verdict.by, verdict.retryAfterSeconds)
    if (caller.state === 'suspended') return refused(torznabError('accountSuspended'))
    if (caller.apiBlocked) return refused(torznabError('notAuthorized'))
    const { searches, downloads } = verdict.usage
    return {
      authorized: true,
      caller,
      limits: { apiCurrent: searches, apiMax: searchLimit, grabCurrent: downloads, grabMax: downloadLimit },
    }
  }
}
