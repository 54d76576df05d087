import type { Feed } from '@vault-and-tracker/torznab-xml'
import { type Account, type Accounts, refusalOf } from '../accounts/accounts.ts'
import type { RecordAddress } from '../addresses/addresses.ts'
import { apiError } from '../errors.ts'
import type { Search } from '../search/search.ts'
import type { ApiTokens } from '../tokens/api-tokens.ts'
import type { Tokens } from '../tokens/tokens.ts'
import type { Bookmarks } from '../torrents/bookmarks.ts'
import type { Torrents } from '../torrents/torrents.ts'
import type { CatalogueStates } from '../torznab/catalogue-state.ts'
import { feedItems } from '../torznab/feed-items.ts'
import type { TorznabLimits } from '../torznab/limits.ts'
import type { TorznabConfiguration } from '../torznab/settings.ts'
import type { SavedSearches } from './saved-searches.ts'

/** An authorized request for a feed, or for a file of one. */
export type FeedReader = {
  readonly account: Account
  /** The list of the feed; null for the bookmarks. */
  readonly savedSearch: string | null
  /** As in the request. */
  readonly token: string
}

/** A request for a feed or a file of one. */
export type FeedRequest = {
  /** The token of a feed, or an API token. */
  readonly token: string
  /** The list that an API token reads; undefined for the bookmarks. The token of a feed has its own. */
  readonly savedSearch: string | undefined
  readonly address: string
  readonly kind: 'search' | 'download'
}

type Opened = Omit<FeedReader, 'token'> & { readonly refusal: Error | undefined }

/** A reader, or the number of seconds until a limit allows the request. */
export type Admission = { readonly reader: FeedReader } | { readonly waitSeconds: number }

export type Feeds = ReturnType<typeof createFeeds>

/** Readers fetch feeds far more often than so many torrents are added. */
const ITEMS = 100

/**
 * Feeds of saved searches and bookmarks for feed readers. The token of a feed opens that one and downloads torrents for its
 * user; an API token opens all lists of its user, and downloads if it has the scope. The settings, limits and blocks of the Torznab API apply, which counts the same requests.
 */
export function createFeeds(deps: {
  tokens: Pick<Tokens, 'find'>
  apiTokens: Pick<ApiTokens, 'find'>
  accounts: Pick<Accounts, 'byId'>
  savedSearches: Pick<SavedSearches, 'find'>
  bookmarks: Pick<Bookmarks, 'newest'>
  search: Pick<Search, 'list'>
  torrents: Pick<Torrents, 'download'>
  catalogue: CatalogueStates
  settings: Pick<TorznabConfiguration, 'current'>
  limits: TorznabLimits
  recordAddress: Pick<RecordAddress, 'ofText'>
  /** Without a slash at the end. */
  publicUrl: string
  siteTitle: () => Promise<string>
}) {
  const { publicUrl } = deps

  /** The matches of the feed's list, and when each was added to it. */
  async function entriesOf({ savedSearch, account }: FeedReader) {
    if (savedSearch === null) {
      const newest = await deps.bookmarks.newest(account.id, ITEMS)
      return { name: 'Bookmarks', entries: newest }
    }
    const { name, filters } = await deps.savedSearches.find(savedSearch, account.id)
    const seesAnonymous = account.role !== 'member'
    const newest = { state: 'approved', sort: 'created', order: 'desc', page: 1, limit: ITEMS } as const
    const { items } = await deps.search.list({ ...filters, ...newest, seesAnonymous }, account.id)
    return { name, entries: items.map((torrent) => ({ torrent, at: torrent.createdAt })) }
  }

  /** What a token opens; undefined if it is not valid, or its owner is banned, as for a passkey. */
  async function openedBy(request: FeedRequest): Promise<Opened | undefined> {
    const { token: text, savedSearch, address, kind } = request
    // The token of a feed is looked up first, because it may begin like an API token.
    const token = await deps.tokens.find(text, address)
    if (token === undefined) {
      const scope = kind === 'search' ? 'torznab' : 'download'
      const { holder, refusal } = await deps.apiTokens.find(text, { scope, address })
      if (holder === undefined || refusal?.reason === 'banned') return undefined
      return { account: holder.account, savedSearch: savedSearch ?? null, refusal: refusal?.error }
    }
    const account = await deps.accounts.byId(token.userId)
    if (account.state === 'banned') return undefined
    const blocked = account.apiBlocked ? apiError('FORBIDDEN', 'This account is blocked from the API.') : undefined
    return { account, savedSearch: token.savedSearch, refusal: refusalOf(account) ?? blocked }
  }

  return {
    /**
     * Finds the owner of a token and counts the request.
     *
     * @throws ApiError UNAUTHORIZED for an unknown token; FORBIDDEN if the Torznab API is off, or the user or the token may
     *   not use it
     */
    async admit(request: FeedRequest): Promise<Admission> {
      const { enabled, windowSeconds, searchLimit, downloadLimit } = await deps.settings.current()
      if (!enabled) throw apiError('FORBIDDEN', 'Feeds and the Torznab API are switched off.')
      const { address, kind } = request
      const opened = await openedBy(request)
      if (opened === undefined) {
        const waitSeconds = await deps.limits.takeWrongKey(address)
        if (waitSeconds > 0) return { waitSeconds }
        throw apiError('UNAUTHORIZED', 'This feed address is not valid. It may have been revoked.')
      }
      const { account, savedSearch, refusal } = opened
      deps.recordAddress.ofText(account.id, 'api', address)
      const limit = kind === 'search' ? searchLimit : downloadLimit
      const verdict = await deps.limits.take({ userId: account.id, address, kind, limit, windowSeconds })
      if (!verdict.allowed) return { waitSeconds: verdict.retryAfterSeconds }
      if (refusal) throw refusal
      return { reader: { account, savedSearch, token: request.token } }
    },

    /** The newest torrents of the feed's list. @throws ApiError as `SavedSearches.find` and `Search.list` do */
    async read(reader: FeedReader): Promise<Feed> {
      const [state, siteTitle, { name, entries }] = await Promise.all([
        deps.catalogue.current(),
        deps.siteTitle(),
        entriesOf(reader),
      ])
      const items = feedItems(
        entries.map(({ torrent }) => torrent),
        {
          ...{ caller: reader.account, publicUrl, ...state },
          downloadUrl: ({ id }) => `${publicUrl}/api/feeds/download?id=${id}&token=${reader.token}`,
        },
      )
      return {
        title: `${name} · ${siteTitle}`,
        description: `${name}, newest first`,
        siteUrl: `${publicUrl}/saved`,
        // Readers that show this address would reveal a token in it.
        selfUrl: `${publicUrl}/api/feeds/rss`,
        ...{ offset: 0, total: items.length },
        items: items.map((item, i) => ({ ...item, publishedAt: entries[i]?.at ?? item.publishedAt })),
      }
    },

    /** A .torrent file with the user's passkey. @throws ApiError as `Torrents.download` does */
    download: (id: string, { account }: FeedReader) => deps.torrents.download(id, account),
  }
}
