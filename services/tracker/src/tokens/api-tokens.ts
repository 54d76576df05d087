import { batchedLoader } from '@vault-and-tracker/service-kit/core/cache'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isId, newId } from '@vault-and-tracker/service-kit/core/ids'
import { type Account, refusalOf } from '../accounts/accounts.ts'
import { type ActedBy, actedBy } from '../admin-log/admin-log.ts'
import { apiError } from '../errors.ts'
import { changedKeys, type PublishInvalidation } from '../invalidation/invalidation.ts'
import { SCOPES, type Scope } from './scopes.ts'
import { hashOfToken, isLinkKey, isWellFormedToken, type LinkingToken, newTokenText, tokenIdIn } from './token-text.ts'
import type { TokenUses } from './token-uses.ts'

/** A credential of a user for the APIs, without its text, which is shown only once. */
export type ApiToken = {
  readonly id: string
  /** Unique per user, case-insensitively. */
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly created: Date
  readonly expires: Date | null
  /** Addresses and CIDR ranges from which it may be used; empty for any. */
  readonly addresses: readonly string[]
  /** Up to a minute late. */
  readonly lastUsed: Date | null
  readonly lastAddress: string | null
}

export type NewApiToken = Pick<ApiToken, 'name' | 'scopes' | 'expires' | 'addresses'>

/** The store of API tokens. Each method is one atomic change. */
export type ApiTokenStore = {
  /** @param most the number of API tokens that a user can have */
  create(token: ApiToken & { userId: string; hash: Buffer }, most: number): Promise<'done' | 'full' | 'taken'>
  /** All API tokens of a user, newest first. */
  listBy(userId: string): Promise<readonly ApiToken[]>
  /**
   * Revokes a token of a user; without `userId`, of any user. With `by`, the admin log records it and the user is notified.
   *
   * @returns undefined if it did not exist
   */
  revoke(
    id: string,
    whose: { readonly userId?: string; readonly by?: ActedBy },
  ): Promise<{ readonly userId: string; readonly announceKey: string | null } | undefined>
  /** Tokens by hash in hex. Leaves out unknown ones. */
  byHashes(hashes: readonly string[]): Promise<ReadonlyMap<string, StoredToken>>
  /** Tokens by id. Leaves out unknown ones. */
  byIds(ids: readonly string[]): Promise<ReadonlyMap<string, StoredToken>>
}

/** A token with its owner. The hash is in hex. */
export type StoredToken = { readonly token: ApiToken; readonly tokenHash: string; readonly owner: Account }

/** The request for which a token is checked. */
export type TokenRequest = {
  /** The scope that the request needs; undefined if no token may make it. */
  readonly scope: Scope | undefined
  readonly address: string
}

/**
 * Why a token was refused. `invalid` is an unknown, revoked or expired token, or one used from another address, and names
 * no owner.
 */
export type TokenRefusal = {
  readonly reason: 'invalid' | 'banned' | 'suspended' | 'blocked' | 'scope'
  /** The error for the client: an ApiError UNAUTHORIZED or FORBIDDEN. */
  readonly error: Error
  /** Why a token that exists is not valid. */
  readonly hint?: string
}

/** A token that is valid, and its owner as the request may act. */
export type TokenHolder = LinkingToken & { readonly account: Account }

export type TokenVerdict =
  | { readonly holder: TokenHolder; readonly refusal: undefined }
  | { readonly holder: TokenHolder | undefined; readonly refusal: TokenRefusal }

export type ApiTokens = ReturnType<typeof createApiTokens>

const MAX_TOKENS = 25
/** One statement at a time, so that requests with random tokens do not take all connections. */
const BATCHES = { concurrency: 1, maxBatchSize: 500, lingerMs: 0, isReady: () => false }

/** API tokens. Each request reads its token, so that a revoked one stops at once in all processes. */
export function createApiTokens(deps: {
  store: ApiTokenStore
  uses: Pick<TokenUses, 'add'>
  /** Whether an address is in one of several ranges. */
  isInRanges: (ranges: readonly string[], address: string) => boolean
  publish: PublishInvalidation
  clock: Clock
}) {
  const { store, uses, isInRanges, clock } = deps
  const byHash = batchedLoader((hashes: readonly string[]) => store.byHashes(hashes), BATCHES)
  const byId = batchedLoader((ids: readonly string[]) => store.byIds(ids), BATCHES)

  function verdictOn({ token, tokenHash, owner }: StoredToken, { scope, address }: TokenRequest): TokenVerdict {
    if (token.expires !== null && token.expires.getTime() <= clock.now()) return unusable('has expired')
    if (token.addresses.length > 0 && !isInRanges(token.addresses, address))
      return unusable('may not be used from this address')
    const account: Account = scope === 'upload' ? owner : { ...owner, role: 'member' }
    const holder = { id: token.id, tokenHash, account }
    const refused = (reason: TokenRefusal['reason'], error: Error) => ({ holder, refusal: { reason, error } })
    const stateRefusal = refusalOf(owner)
    if (stateRefusal && owner.state !== 'active') return refused(owner.state, stateRefusal)
    if (owner.apiBlocked) return refused('blocked', apiError('FORBIDDEN', 'This account is blocked from the API.'))
    if (scope === undefined)
      return refused('scope', apiError('FORBIDDEN', 'API tokens cannot do this. Sign in to the website.'))
    if (!token.scopes.includes(scope))
      return refused('scope', apiError('FORBIDDEN', `This API token does not have the scope ${scope}.`))
    return { holder, refusal: undefined }
  }

  /** Checks a token, and records its use. */
  function use(found: StoredToken, request: TokenRequest): TokenVerdict {
    const verdict = verdictOn(found, request)
    if (verdict.refusal === undefined) uses.add(found.token, request.address)
    return verdict
  }

  async function revoke(id: string, whose: Parameters<ApiTokenStore['revoke']>[1]): Promise<void> {
    const revoked = isId(id) ? await store.revoke(id, whose) : undefined
    if (revoked === undefined) throw apiError('NOT_FOUND', 'There is no such API token.')
    await deps.publish({ kind: 'revoked', userId: revoked.userId }, ...changedKeys([revoked.announceKey]))
  }

  return {
    /** @returns the token with its text, which cannot be retrieved again @throws ApiError CONFLICT, BAD_REQUEST */
    async create(userId: string, input: NewApiToken): Promise<ApiToken & { readonly text: string }> {
      const now = clock.now()
      if (input.expires !== null && input.expires.getTime() <= now)
        throw apiError('BAD_REQUEST', 'expires: must be in the future')
      const text = newTokenText()
      const scopes = SCOPES.filter((scope) => input.scopes.includes(scope))
      const token = { ...input, scopes, id: newId(), created: new Date(now), lastUsed: null, lastAddress: null }
      const outcome = await store.create({ ...token, userId, hash: hashOfToken(text) }, MAX_TOKENS)
      if (outcome === 'taken') throw apiError('CONFLICT', 'name: you already have a token with this name.')
      if (outcome === 'full')
        throw apiError('CONFLICT', `You already have ${MAX_TOKENS} API tokens. Revoke one that you no longer use.`)
      return { ...token, text }
    },

    listBy: (userId: string) => store.listBy(userId),

    /** Revokes one of a user's own tokens. @throws ApiError NOT_FOUND */
    revokeOwn: (id: string, userId: string) => revoke(id, { userId }),

    /** Revokes a token on behalf of an administrator. Its user is notified. @throws ApiError NOT_FOUND */
    revokeAny: (id: string, by: Account) => revoke(id, { by: actedBy(clock, by.id) }),

    /**
     * Checks a token for a request, and records its use. The owner acts as a member, whatever their role, except when they
     * upload: a stolen token of staff must not open what only a session with a second factor does.
     */
    async find(text: string, request: TokenRequest): Promise<TokenVerdict> {
      const found = isWellFormedToken(text) ? await byHash(hashOfToken(text).toString('hex')) : undefined
      return found ? use(found, request) : invalid('This API token is not valid. It may have been revoked.')
    },

    /** Checks the key of a link to a subject, which opens it as the token does. See `linkKeyOf`. */
    async findByLink(key: string, subject: string, request: TokenRequest): Promise<TokenVerdict> {
      const id = tokenIdIn(key)
      const found = id === undefined ? undefined : await byId(id)
      return found && isLinkKey(key, { ...found.token, tokenHash: found.tokenHash }, subject)
        ? use(found, request)
        : invalid('This link is not valid. Its API token may have been revoked.')
    },

    /** Whether a token that opened a lasting connection would still open it. `hash` is that of its text, in hex. */
    async isValid(hash: string, request: TokenRequest): Promise<boolean> {
      const found = await byHash(hash)
      return found !== undefined && verdictOn(found, request).refusal === undefined
    },
  }
}

function invalid(message: string): TokenVerdict {
  return { holder: undefined, refusal: { reason: 'invalid', error: apiError('UNAUTHORIZED', message) } }
}

/** The refusal of a token that exists. @param why the rest of a sentence about it */
function unusable(why: string): TokenVerdict {
  const error = apiError('UNAUTHORIZED', `This API token ${why}.`)
  return { holder: undefined, refusal: { reason: 'invalid', error, hint: `this API token ${why}` } }
}
