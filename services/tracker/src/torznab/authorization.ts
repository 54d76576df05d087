import { type Passkey, parsePasskey } from '@vault-and-tracker/bencode-tracker'
import { type ApiLimits, type TorznabError, torznabError } from '@vault-and-tracker/torznab-xml'
import type { Lookups, PasskeyUser } from '../announce/lookups.ts'
import type { LimitedRequest, TorznabLimits } from './limits.ts'
import type { TorznabSettings } from './settings.ts'

/** The refusal of a request. */
export type Refusal = {
  readonly error: TorznabError
  /** Present if a limit or a block refused the request. */
  readonly by?: 'limit' | 'block'
  readonly retryAfterSeconds?: number
}

export type TorznabCaller = PasskeyUser & { readonly passkey: Passkey }

/** A user whose request was counted and may be answered, and their usage in the window. */
export type AuthorizedCaller = { readonly caller: TorznabCaller; readonly limits: ApiLimits }

/** An authorized caller, or a refusal with the owner of the key, if any. */
type Authorization =
  | (AuthorizedCaller & { readonly refusal: undefined })
  | { readonly caller: TorznabCaller | undefined; readonly refusal: Refusal }

export type Authorizer = ReturnType<typeof createAuthorizer>

/** Authenticates callers and applies their limits. */
export function createAuthorizer({ lookups, limits }: { lookups: Lookups; limits: TorznabLimits }) {
  return {
    /**
     * Accepts requests of active users who are within their limits and not blocked, from addresses that are not blocked. Limits
     * are checked first, so that they also apply to suspended and blocked users. The key of a banned account counts as a
     * wrong key, which does not reveal its owner.
     *
     * @throws an error that `isUnavailable` recognises when Postgres or Redis is unavailable
     */
    async authorize(
      apiKey: string,
      { address, kind }: Pick<LimitedRequest, 'address' | 'kind'>,
      { windowSeconds, searchLimit, downloadLimit }: TorznabSettings,
    ): Promise<Authorization> {
      const passkey = parsePasskey(apiKey)
      const user = passkey && (await lookups.user(passkey))
      const caller = user && { ...user, passkey }
      if (caller === undefined || caller.state === 'banned') {
        const wait = await limits.takeWrongKey(address)
        return {
          caller,
          refusal: wait > 0 ? overLimit('limit', wait) : { error: torznabError('incorrectCredentials') },
        }
      }
      const limit = kind === 'search' ? searchLimit : downloadLimit
      const verdict = await limits.take({ userId: caller.id, address, kind, limit, windowSeconds })
      if (!verdict.allowed) return { caller, refusal: overLimit(verdict.by, verdict.retryAfterSeconds) }
      if (caller.state === 'suspended') return { caller, refusal: { error: torznabError('accountSuspended') } }
      if (caller.apiBlocked) return { caller, refusal: { error: torznabError('notAuthorized') } }
      const { searches, downloads } = verdict.usage
      return {
        caller,
        refusal: undefined,
        limits: { apiCurrent: searches, apiMax: searchLimit, grabCurrent: downloads, grabMax: downloadLimit },
      }
    },
  }
}

function overLimit(by: 'limit' | 'block', retryAfterSeconds: number): Refusal {
  return { error: torznabError('requestLimitReached'), by, retryAfterSeconds }
}
