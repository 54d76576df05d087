import { randomBytes } from 'node:crypto'
import { batchedLoader } from '@vault-and-tracker/service-kit/core/cache'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isId, newId } from '@vault-and-tracker/service-kit/core/ids'
import { apiError } from '../errors.ts'
import { changedKeys, type PublishInvalidation } from '../invalidation/invalidation.ts'
import { hashOfToken, isLinkKey, type LinkingToken, tokenIdIn } from './token-text.ts'
import type { TokenUses } from './token-uses.ts'

/** The list of a feed: a saved search by its id, a category by its slug, or without both the bookmarks. */
export type FeedList = { readonly savedSearch: string | null; readonly category: string | null }

/** A credential for one feed of a user, without its text, which is shown only once. */
export type Token = FeedList & {
  readonly id: string
  readonly created: Date
  /** Up to a minute late. */
  readonly lastUsed: Date | null
}

/** A token and its owner. */
export type OwnedToken = Token & LinkingToken & { readonly userId: string }

export type NewToken = FeedList & Pick<OwnedToken, 'id' | 'userId' | 'created'> & { readonly hash: Buffer }

/** The store of tokens. Each method is one atomic change. */
export type TokenStore = {
  /** @param most the number of tokens that a user can have */
  create(token: NewToken, most: number): Promise<'done' | 'full' | 'unknown list'>
  /** All tokens of a user, newest first. */
  listBy(userId: string): Promise<readonly Token[]>
  /** @returns undefined if the user did not have it */
  revoke(id: string, userId: string): Promise<{ readonly announceKey: string | null } | undefined>
  /** Tokens by hash in hex. Leaves out unknown ones. */
  byHashes(hashes: readonly string[]): Promise<ReadonlyMap<string, OwnedToken>>
  /** Tokens by id. Leaves out unknown ones. */
  byIds(ids: readonly string[]): Promise<ReadonlyMap<string, OwnedToken>>
}

export type Tokens = ReturnType<typeof createTokens>

const MAX_TOKENS = 50
/** 192 random bits in Base64url. */
const TOKEN = /^[A-Za-z0-9_-]{32}$/
const TOKEN_BYTES = 24
/** One statement at a time, so that requests with random tokens do not take all connections. */
const BATCHES = { concurrency: 1, maxBatchSize: 500, lingerMs: 0, isReady: () => false }

/** Tokens that each open one feed. Every replica reads them for each request, so a revoked one stops at once. */
export function createTokens({
  store,
  uses,
  publish,
  clock,
}: {
  store: TokenStore
  uses: Pick<TokenUses, 'add'>
  publish: PublishInvalidation
  clock: Clock
}) {
  const byHash = batchedLoader((hashes: readonly string[]) => store.byHashes(hashes), BATCHES)
  const byId = batchedLoader((ids: readonly string[]) => store.byIds(ids), BATCHES)

  return {
    /** @throws ApiError NOT_FOUND if there is no such list, CONFLICT if the user has too many tokens */
    async create(userId: string, { savedSearch, category }: FeedList): Promise<Token & { readonly text: string }> {
      if (savedSearch !== null && !isId(savedSearch)) throw unknownList()
      const text = randomBytes(TOKEN_BYTES).toString('base64url')
      const token = { id: newId(), savedSearch, category, created: new Date(clock.now()) }
      const outcome = await store.create({ ...token, userId, hash: hashOfToken(text) }, MAX_TOKENS)
      if (outcome === 'unknown list') throw unknownList()
      if (outcome === 'full')
        throw apiError('CONFLICT', `You already have ${MAX_TOKENS} feed addresses. Revoke one that you no longer use.`)
      return { ...token, lastUsed: null, text }
    },

    listBy: (userId: string) => store.listBy(userId),

    /** @throws ApiError NOT_FOUND */
    async revoke(id: string, userId: string): Promise<void> {
      const revoked = isId(id) ? await store.revoke(id, userId) : undefined
      if (revoked === undefined) throw apiError('NOT_FOUND', 'There is no such feed address.')
      await publish(...changedKeys([revoked.announceKey]))
    },

    /** The token with this text, whose use is recorded. */
    async find(text: string, address: string): Promise<OwnedToken | undefined> {
      const token = TOKEN.test(text) ? await byHash(hashOfToken(text).toString('hex')) : undefined
      if (token !== undefined) uses.add(token, address)
      return token
    },

    /** The token to which the key of a link to a subject belongs. See `linkKeyOf`. */
    async findByLink(key: string, subject: string, address: string): Promise<OwnedToken | undefined> {
      const id = tokenIdIn(key)
      const token = id === undefined ? undefined : await byId(id)
      if (token === undefined || !isLinkKey(key, token, subject)) return undefined
      uses.add(token, address)
      return token
    },
  }
}

function unknownList(): Error {
  return apiError('NOT_FOUND', 'There is no such saved search or category.')
}
