import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { isId, newId } from '@vault-and-tracker/service-kit/ids'
import type { Account } from '../accounts/accounts.ts'
import { type Categories, familyOf, findBySlug } from '../categories/categories.ts'
import { apiError } from '../errors.ts'
import type { PublishInvalidation } from '../invalidation/invalidation.ts'
import { parseReleaseName, type Release } from './release-name.ts'
import { indexTokens, queryTokens } from './search-tokens.ts'
import { readUpload, type TorrentContent, writeTorrentFile } from './torrent-file.ts'

export const TORRENT_STATES = ['pending', 'approved', 'rejected'] as const
export type TorrentState = (typeof TORRENT_STATES)[number]

/** How long a deleted torrent's reason is kept for announces. */
const DELETED_KEPT_MS = 30 * 24 * 3_600_000

export type ExternalIds = {
  readonly imdb: number | null
  readonly tmdb: number | null
  readonly tvdb: number | null
}

/** A torrent as lists show it. Hashes are lower-case hex. */
export type ListedTorrent = {
  readonly id: string
  /** Of BEP 3, or the truncated one of BEP 52 for a pure v2 torrent. */
  readonly infoHash: string
  /** The truncated second hash of a hybrid. */
  readonly infoHashV2: string | null
  readonly name: string
  readonly category: string
  readonly size: number
  readonly fileCount: number
  readonly uploader: { readonly id: string; readonly username: string } | null
  readonly externalIds: ExternalIds
  readonly state: TorrentState
  readonly stateReason: string | null
  /** Per cent of a download that is charged: 0 is freeleech. */
  readonly downloadPercent: number
  /** Per cent of an upload that is credited: 200 is double upload. */
  readonly uploadPercent: number
  readonly release: Release
  readonly seeders: number
  readonly leechers: number
  readonly completed: number
  readonly createdAt: Date
}

/** A torrent with all there is to say about it. */
export type Torrent = ListedTorrent & { readonly description: string }

export type NewTorrent = {
  readonly id: string
  readonly content: TorrentContent
  readonly name: string
  readonly categoryId: string
  readonly uploaderId: string
  readonly description: string
  readonly externalIds: ExternalIds
  readonly state: TorrentState
  readonly release: Release
  readonly tokens: readonly string[]
  readonly createdAt: Date
}

export const SORTS = ['created', 'seeders', 'leechers', 'size'] as const
export type Sort = (typeof SORTS)[number]

/** What a list asks for. `categoryIds` undefined means all; `tokens` must all be found. */
export type TorrentQuery = {
  readonly page: number
  readonly limit: number
  readonly sort: Sort
  readonly order: 'asc' | 'desc'
  readonly categoryIds: readonly string[] | undefined
  readonly tokens: readonly string[]
  readonly state: TorrentState
}

/** Already decided changes of a torrent's row. */
export type TorrentChanges = {
  readonly name?: { readonly name: string; readonly release: Release; readonly tokens: readonly string[] } | undefined
  readonly categoryId?: string | undefined
  readonly description?: string | undefined
  readonly externalIds?: { readonly [Id in keyof ExternalIds]?: number | null | undefined } | undefined
  readonly downloadPercent?: number | undefined
  readonly uploadPercent?: number | undefined
  readonly state?: { readonly state: TorrentState; readonly reason: string | null } | undefined
}

/** Where torrents are kept. Each method is one atomic change; deleted torrents are as good as gone for all of them. */
export type TorrentStore = {
  /** @throws ApiError CONFLICT when either hash is there already, or the category is gone */
  create(torrent: NewTorrent): Promise<Torrent>
  byId(id: string): Promise<Torrent | undefined>
  list(query: TorrentQuery): Promise<{ items: readonly ListedTorrent[]; total: number }>
  files(id: string): Promise<readonly { path: string; size: number }[]>
  /** The bencoded info dictionary and piece layers. */
  source(id: string): Promise<Pick<TorrentContent, 'info' | 'pieceLayers'> | undefined>
  change(id: string, changes: TorrentChanges): Promise<Torrent | undefined>
  remove(id: string, reason: string, at: Date): Promise<Torrent | undefined>
  /** Forgets torrents that were deleted before a time, with what users moved of them. @returns how many */
  purgeDeleted(before: Date): Promise<number>
}

/** What an owner or staff ask to change. */
export type TorrentEdit = {
  readonly name?: string | undefined
  readonly category?: string | undefined
  readonly description?: string | undefined
  readonly externalIds?: { readonly [Id in keyof ExternalIds]?: number | null | undefined } | undefined
  readonly downloadPercent?: number | undefined
  readonly uploadPercent?: number | undefined
}

export type Torrents = ReturnType<typeof createTorrents>

/** The catalogue of torrents: upload, search, download, upkeep. */
export function createTorrents(deps: {
  store: TorrentStore
  categories: Categories
  publish: PublishInvalidation
  clock: Clock
  /** Uploads of members wait for a moderator. */
  approval: 'automatic' | 'manual'
  /** The `source` of every torrent's info dictionary. */
  source: string
  publicUrl: string
  announceUrl: (passkey: string) => string
}) {
  const { store, categories, clock } = deps

  const publish = (torrent: Torrent): Promise<void> =>
    deps.publish(
      ...[torrent.infoHash, torrent.infoHashV2].flatMap((infoHash) =>
        infoHash === null ? [] : [{ kind: 'torrent', infoHash } as const],
      ),
    )

  /** A torrent that the viewer may see: approved, or his own, or he is staff. @throws ApiError NOT_FOUND */
  async function visible(id: string, viewer: Account): Promise<Torrent> {
    const torrent = isId(id) ? await store.byId(id) : undefined
    if (torrent === undefined || (torrent.state !== 'approved' && !mayEdit(torrent, viewer))) throw notFound()
    return torrent
  }

  async function editable(id: string, editor: Account): Promise<Torrent> {
    const torrent = await visible(id, editor)
    if (!mayEdit(torrent, editor)) throw apiError('FORBIDDEN', 'Only its uploader and staff may change this torrent.')
    return torrent
  }

  return {
    visible,

    /**
     * Takes a torrent into the catalogue: made private and marked with our source, so its info hash may differ from
     * the uploaded file's.
     *
     * @throws ApiError BAD_REQUEST naming what is wrong with the file or the category; CONFLICT when we have it
     */
    async upload(
      by: Account,
      upload: {
        bytes: Buffer
        name: string | undefined
        category: string
        description: string
        externalIds: ExternalIds
      },
    ): Promise<Torrent> {
      const content = readUpload(upload.bytes, deps.source)
      const category = await categories.bySlug(upload.category)
      const name = upload.name ?? content.name
      const torrent = await store.create({
        id: newId(),
        content,
        categoryId: category.id,
        uploaderId: by.id,
        description: upload.description,
        externalIds: upload.externalIds,
        state: deps.approval === 'manual' && by.role === 'member' ? 'pending' : 'approved',
        createdAt: new Date(clock.now()),
        ...named(name),
      })
      await publish(torrent)
      return torrent
    },

    /** One page of a state's torrents. @throws ApiError BAD_REQUEST when there is no such category */
    async list(
      query: Pick<TorrentQuery, 'page' | 'limit' | 'sort' | 'order' | 'state'> & {
        category: string | undefined
        search: string | undefined
      },
    ): Promise<{ items: readonly ListedTorrent[]; total: number }> {
      const { category: slug, search, ...rest } = query
      const tokens = search === undefined ? [] : queryTokens(search)
      // Signs alone are a search too, but for nothing we could find.
      if (search !== undefined && search.trim() !== '' && tokens.length === 0) return { items: [], total: 0 }
      let categoryIds: readonly string[] | undefined
      if (slug !== undefined) {
        const all = await categories.all()
        const category = findBySlug(all, slug)
        if (category === undefined) throw apiError('BAD_REQUEST', 'category: there is no such category.')
        categoryIds = familyOf(all, category).map(({ id }) => id)
      }
      return store.list({ ...rest, categoryIds, tokens })
    },

    /** The files of a torrent, in its own order. @throws ApiError NOT_FOUND */
    async files(id: string, viewer: Account): Promise<readonly { path: string; size: number }[]> {
      return store.files((await visible(id, viewer)).id)
    },

    /**
     * The .torrent file with the downloader's passkey in it. What one uploaded is one's own to seed in any state.
     *
     * @throws ApiError NOT_FOUND, or FORBIDDEN when the user may not download or the torrent is not approved
     */
    async download(id: string, viewer: Account): Promise<{ name: string; bytes: Buffer }> {
      const torrent = await visible(id, viewer)
      const own = torrent.uploader?.id === viewer.id
      if (torrent.state === 'rejected') throw apiError('FORBIDDEN', 'This torrent was rejected.')
      if (!viewer.canDownload && !own) throw apiError('FORBIDDEN', 'Your downloads are switched off.')
      const content = await store.source(torrent.id)
      if (content === undefined) throw notFound()
      const bytes = writeTorrentFile(content, {
        announceUrl: deps.announceUrl(viewer.passkey),
        comment: `${deps.publicUrl}/torrents/${torrent.id}`,
        createdAt: torrent.createdAt,
      })
      return { name: torrent.name, bytes }
    },

    /** @throws ApiError NOT_FOUND, FORBIDDEN, or BAD_REQUEST when there is no such category */
    async edit(id: string, editor: Account, edit: TorrentEdit): Promise<Torrent> {
      const torrent = await editable(id, editor)
      const factors = edit.downloadPercent !== undefined || edit.uploadPercent !== undefined
      if (factors && editor.role === 'member') throw apiError('FORBIDDEN', 'Only staff set what counts.')
      const changed = await store.change(torrent.id, {
        name: edit.name === undefined ? undefined : named(edit.name),
        categoryId: edit.category === undefined ? undefined : (await categories.bySlug(edit.category)).id,
        description: edit.description,
        externalIds: edit.externalIds,
        downloadPercent: edit.downloadPercent,
        uploadPercent: edit.uploadPercent,
      })
      return told(changed)
    },

    /** Approves or rejects. @throws ApiError NOT_FOUND */
    async moderate(id: string, state: TorrentState, reason: string | null): Promise<Torrent> {
      return told(isId(id) ? await store.change(id, { state: { state, reason } }) : undefined)
    },

    /** Deletes a torrent; announces tell the reason for 30 days. @throws ApiError NOT_FOUND or FORBIDDEN */
    async remove(id: string, editor: Account, reason: string | undefined): Promise<void> {
      const torrent = await editable(id, editor)
      const own = torrent.uploader?.id === editor.id
      const standard = own ? 'Deleted by its uploader' : 'Deleted by staff'
      await told(await store.remove(torrent.id, reason ?? standard, new Date(clock.now())))
    },

    purgeDeleted: () => store.purgeDeleted(new Date(clock.now() - DELETED_KEPT_MS)),
  }

  async function told(changed: Torrent | undefined): Promise<Torrent> {
    if (changed === undefined) throw notFound()
    await publish(changed)
    return changed
  }
}

function mayEdit(torrent: Torrent, user: Account): boolean {
  return user.role !== 'member' || torrent.uploader?.id === user.id
}

function named(name: string) {
  const release = parseReleaseName(name)
  return { name, release, tokens: indexTokens(name, release.title ?? '') }
}

function notFound() {
  return apiError('NOT_FOUND', 'There is no such torrent.')
}
