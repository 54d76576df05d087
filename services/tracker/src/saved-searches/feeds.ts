import type { Feed } from '@vault-and-tracker/torznab-xml'
import { type Account, type Accounts, refusalOf } from '../accounts/accounts.ts'
import type { RecordAddress } from '../addresses/addresses.ts'
import type { Category } from '../categories/categories.ts'
import { apiError } from '../errors.ts'
import type { CatalogueCache, CatalogueState } from '../search/catalogue-state.ts'
import type { Search } from '../search/search.ts'
import type { ApiTokens, TokenVerdict } from '../tokens/api-tokens.ts'
import { type LinkingToken, linkKeyOf } from '../tokens/token-text.ts'
import type { FeedList, OwnedToken, Tokens } from '../tokens/tokens.ts'
import type { Bookmarks } from '../torrents/bookmarks.ts'
import type { Torrents } from '../torrents/torrents.ts'
import { feedItems } from '../torznab/feed-items.ts'
import type { TorznabLimits } from '../torznab/limits.ts'
import type { TorznabConfiguration } from '../torznab/settings.ts'
import type { SavedSearches } from './saved-searches.ts'

/** An authorized request for a feed, or for a file of one. */
export type FeedReader = {
  readonly account: Account
  readonly list: FeedList
  /** The token of the request, from which the keys of links derive; undefined for a session. */
  readonly token: LinkingToken | undefined
}

/** A request for a feed, or for a file of one. */
export type FeedRequest = { readonly address: string } & (
  | {
      readonly kind: 'search'
      /** The token of a feed, an API token, or the account of a session. */
      readonly by: string | Account
      /** The list that an API token or a session reads. The token of a feed has its own. */
      readonly list: FeedList
    }
  | {
      readonly kind: 'download'
      /** The key of the link. */
      readonly key: string
      /** The id of the torrent. */
      readonly torrent: string
    }
)

type Opened = FeedReader & { readonly refusal: Error | undefined }

/** A reader, or the number of seconds until a limit allows the request. */
export type Admission = { readonly reader: FeedReader } | { readonly waitSeconds: number }

export type Feeds = ReturnType<typeof createFeeds>

/** Readers fetch feeds far more often than so many torrents are added. */
const ITEMS = 100

const BOOKMARKS: FeedList = { savedSearch: null, category: null }

/**
 * Feeds of saved searches, categories and bookmarks for feed readers. The token of a feed opens that one; an API token and
 * the session of a browser open all lists of their user. Each link has a key that downloads its torrent for the user, because
 * readers share entries; those of an API token need the scope. The settings, limits and blocks of the Torznab API apply, which
 * counts the same requests.
 */
export function createFeeds(deps: {
  tokens: Pick<Tokens, 'find' | 'findByLink'>
  apiTokens: Pick<ApiTokens, 'find' | 'findByLink'>
  accounts: Pick<Accounts, 'byId'>
  savedSearches: Pick<SavedSearches, 'find'>
  bookmarks: Pick<Bookmarks, 'newest'>
  search: Pick<Search, 'list'>
  torrents: Pick<Torrents, 'download'>
  catalogue: CatalogueCache
  settings: Pick<TorznabConfiguration, 'current'>
  limits: TorznabLimits
  recordAddress: Pick<RecordAddress, 'ofText'>
  /** Without a slash at the end. */
  publicUrl: string
  siteTitle: () => Promise<string>
}) {
  const { publicUrl } = deps

  /** The matches of the feed's list, and when each was added to it. */
  async function entriesOf({ list, account }: FeedReader, { categories }: CatalogueState) {
    if (list.savedSearch === null && list.category === null) {
      const newest = await deps.bookmarks.newest(account.id, ITEMS)
      return { name: 'Bookmarks', entries: newest }
    }
    const { name, filters } =
      list.savedSearch === null
        ? categoryList(list.category, categories)
        : await deps.savedSearches.find(list.savedSearch, account.id)
    const seesAnonymous = account.role !== 'member'
    const newest = { state: 'approved', sort: 'created', order: 'desc', page: 1, limit: ITEMS } as const
    const { items } = await deps.search.list({ ...filters, ...newest, seesAnonymous }, account.id)
    return { name, entries: items.map((torrent) => ({ torrent, at: torrent.createdAt })) }
  }

  /** What a request may open; undefined if its token or key is not valid, or its owner is banned, as for a passkey. */
  async function openedBy(request: FeedRequest): Promise<Opened | undefined> {
    const { address } = request
    if (request.kind === 'download') {
      const { key, torrent } = request
      const token = await deps.tokens.findByLink(key, subjectOf(torrent), address)
      if (token !== undefined) return ofFeed(token)
      const asked = { scope: 'download', address } as const
      return ofApiToken(await deps.apiTokens.findByLink(key, subjectOf(torrent), asked), BOOKMARKS)
    }
    const { by, list } = request
    if (typeof by !== 'string') return { account: by, list, token: undefined, refusal: refusalOfUser(by) }
    // The token of a feed is looked up first, because it may begin like an API token.
    const token = await deps.tokens.find(by, address)
    if (token !== undefined) return ofFeed(token)
    return ofApiToken(await deps.apiTokens.find(by, { scope: 'torznab', address }), list)
  }

  async function ofFeed(token: OwnedToken): Promise<Opened | undefined> {
    const account = await deps.accounts.byId(token.userId)
    if (account.state === 'banned') return undefined
    // Addresses of feeds are shared with readers, so they never show what only staff see.
    return { account: { ...account, role: 'member' }, list: token, token, refusal: refusalOfUser(account) }
  }

  return {
    /**
     * Finds the owner of a token and counts the request.
     *
     * @throws ApiError UNAUTHORIZED for an unknown token; FORBIDDEN if the Torznab API is disabled, or the user or the
     *   token may not use it
     */
    async admit(request: FeedRequest): Promise<Admission> {
      const { enabled, windowSeconds, searchLimit, downloadLimit } = await deps.settings.current()
      if (!enabled) throw apiError('FORBIDDEN', 'Feeds and the Torznab API are disabled.')
      const { address, kind } = request
      const opened = await openedBy(request)
      if (opened === undefined) {
        const waitSeconds = await deps.limits.takeWrongKey(address)
        if (waitSeconds > 0) return { waitSeconds }
        throw apiError('UNAUTHORIZED', 'This feed address is not valid. It may have been revoked.')
      }
      const { refusal, ...reader } = opened
      deps.recordAddress.ofText(reader.account.id, 'api', address)
      const limit = kind === 'search' ? searchLimit : downloadLimit
      const verdict = await deps.limits.take({ userId: reader.account.id, address, kind, limit, windowSeconds })
      if (!verdict.allowed) return { waitSeconds: verdict.retryAfterSeconds }
      if (refusal) throw refusal
      return { reader }
    },

    /** The newest torrents of the feed's list. @throws ApiError as `SavedSearches.find` and `Search.list` do */
    async read(reader: FeedReader): Promise<Feed> {
      const state = await deps.catalogue.current()
      const [siteTitle, { name, entries }] = await Promise.all([deps.siteTitle(), entriesOf(reader, state)])
      const items = feedItems(
        entries.map(({ torrent }) => torrent),
        {
          ...{ caller: reader.account, publicUrl, ...state },
          downloadUrl: ({ id }) => `${publicUrl}${downloadPath(id, reader.token)}`,
        },
      )
      return {
        title: `${name} · ${siteTitle}`,
        description: `${name}, newest first`,
        siteUrl: `${publicUrl}/saved`,
        // Readers that show this address would reveal a token in it.
        selfUrl: `${publicUrl}/api/feeds/rss`,
        ...{ offset: 0, total: items.length },
        items: items.map((item, i) => ({
          ...item,
          description: pathOf(entries[i]?.torrent.category ?? '', state.categories),
          publishedAt: entries[i]?.at ?? item.publishedAt,
        })),
      }
    },

    /** A .torrent file with the announce key of the token. @throws ApiError as `Torrents.download` does */
    download: (id: string, { account, token }: FeedReader) => deps.torrents.download(id, account, token?.id),
  }
}

/** What the key in the link of a torrent opens. */
function subjectOf(torrentId: string): string {
  return `feed download ${torrentId}`
}

/** The path and query of a .torrent file, which a session downloads without a key. */
function downloadPath(torrentId: string, token: LinkingToken | undefined): string {
  return token === undefined
    ? `/api/torrents/${torrentId}/download`
    : `/api/feeds/download?id=${torrentId}&token=${linkKeyOf(token, subjectOf(torrentId))}`
}

function ofApiToken({ holder, refusal }: TokenVerdict, list: FeedList): Opened | undefined {
  if (holder === undefined || refusal?.reason === 'banned') return undefined
  return { account: holder.account, list, token: holder, refusal: refusal?.error }
}

function refusalOfUser(account: Account): Error | undefined {
  const blocked = account.apiBlocked ? apiError('FORBIDDEN', 'This account is blocked from the API.') : undefined
  return refusalOf(account) ?? blocked
}

/** @throws ApiError NOT_FOUND */
function categoryList(slug: string | null, categories: readonly Category[]) {
  if (slug === null || !categories.some((each) => each.slug === slug))
    throw apiError('NOT_FOUND', 'There is no such category.')
  return { name: pathOf(slug, categories), filters: { category: [slug] } }
}

/** The names of a category and its parent. */
function pathOf(slug: string, categories: readonly Category[]): string {
  const category = categories.find((each) => each.slug === slug)
  const parent = categories.find(({ id }) => id === category?.parentId)
  return [parent, category].flatMap((each) => (each === undefined ? [] : [each.name])).join(' / ') || 'No category'
}
