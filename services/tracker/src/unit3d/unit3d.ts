import type { Account } from '../accounts/accounts.ts'
import type { Category } from '../categories/categories.ts'
import { apiError, isApiError } from '../errors.ts'
import { MAX_OFFSET } from '../pagination.ts'
import type { CatalogueCache } from '../search/catalogue-state.ts'
import type { ListedTorrent } from '../search/listed-torrent.ts'
import type { Search } from '../search/search.ts'
import type { TorrentFile } from '../torrents/torrent-file.ts'
import type { Torrents } from '../torrents/torrents.ts'
import type { NumberedTorrent, UserFigures } from './attributes.ts'
import type { Filter } from './filter.ts'
import { categoriesOf, categoryOf } from './numbers.ts'

/** The store of the numbers by which tools of UNIT3D name torrents. */
export type Unit3dStore = {
  /** The id of a torrent; undefined if the number is unknown. */
  idOf(number: number): Promise<string | undefined>
  /** Number and first files by id, without unknown ids. Paths end after 300 characters. */
  numbered(ids: readonly string[], files: number): Promise<ReadonlyMap<string, Numbered>>
}

type Numbered = Pick<NumberedTorrent, 'number' | 'files'>

type Upload = Parameters<Torrents['upload']>[1]

export type Unit3d = ReturnType<typeof createUnit3d>

/** Tools compare names of files; whole series and discs have thousands, of which a list needs only some. */
const FILES_IN_LIST = 50
const FILES_OF_ONE = 1_000

/** What UNIT3D's API does, on top of the same uploads, searches and downloads as the REST API. */
export function createUnit3d(deps: {
  store: Unit3dStore
  torrents: Pick<Torrents, 'upload' | 'findVisible' | 'download' | 'texts'>
  search: Pick<Search, 'list' | 'byInfoHash'>
  catalogue: CatalogueCache
  activity: {
    statistics(
      viewer: Account,
      userId: string,
    ): Promise<{ readonly id: string; readonly seeding?: number; readonly leeching?: number }>
  }
  ownTorrents: { hitAndRuns(userId: string): Promise<number> }
  /** Without a slash at its end. */
  publicUrl: string
}) {
  const { store, torrents, search } = deps

  const categories = async (): Promise<readonly Category[]> => (await deps.catalogue.current()).categories

  /** @throws ApiError NOT_FOUND */
  async function idOf(number: number): Promise<string> {
    const id = await store.idOf(number)
    if (id === undefined) throw apiError('NOT_FOUND', 'There is no such torrent.')
    return id
  }

  async function numbered(found: readonly ListedTorrent[], files: number): Promise<readonly NumberedTorrent[]> {
    const rows = await store.numbered(
      found.map(({ id }) => id),
      files,
    )
    return found.flatMap((torrent) => {
      const row = rows.get(torrent.id)
      return row === undefined ? [] : [{ ...row, torrent, texts: undefined }]
    })
  }

  return {
    publicUrl: deps.publicUrl,
    categories,

    /**
     * Uploads a torrent to the category with a number. As in UNIT3D, `internal` counts only from staff.
     *
     * @returns its number @throws ApiError as `Torrents.upload` does
     */
    async upload(by: Account, categoryNumber: number, upload: Omit<Upload, 'category'>): Promise<number> {
      const category = categoryOf(categoryNumber, await categories())
      if (category === undefined) throw apiError('BAD_REQUEST', 'category: there is no category with this number.')
      const internal = upload.internal && by.role !== 'member'
      const { id } = await torrents.upload(by, { ...upload, internal, category: category.slug })
      const row = (await store.numbered([id], 0)).get(id)
      if (row === undefined) throw apiError('NOT_FOUND', 'The torrent was deleted in the meantime.')
      return row.number
    },

    /** A page of approved torrents. @throws ApiError RATE_LIMITED or UNAVAILABLE as `Search.list` does */
    async filter(viewer: Account, filter: Filter): Promise<{ items: readonly NumberedTorrent[]; hasMore: boolean }> {
      const { page, limit } = filter.list
      const offset = (page - 1) * limit
      if (filter.infoHash !== undefined) {
        const found = await search.byInfoHash(filter.infoHash)
        return { items: await numbered(found === undefined ? [] : [found], FILES_IN_LIST), hasMore: false }
      }
      const covered = filter.categories && categoriesOf(filter.categories, await categories())
      if (covered?.length === 0 || offset > MAX_OFFSET) return { items: [], hasMore: false }
      const category = covered?.map(({ slug }) => slug)
      const found = await foundBy(search.list({ ...filter.list, category, state: 'approved' }, viewer.id))
      const items = await numbered(found.items, FILES_IN_LIST)
      const { fileName } = filter
      return {
        // Tools take the first torrent as the one with the file.
        items:
          fileName === undefined ? items : items.filter(({ files }) => files.some((file) => isNamed(file, fileName))),
        hasMore: found.total > offset + limit,
      }
    },

    /** One torrent with its texts. @throws ApiError NOT_FOUND */
    async find(number: number, viewer: Account): Promise<NumberedTorrent> {
      const torrent = await torrents.findVisible(await idOf(number), viewer)
      const texts = torrent.hasMediaInfo ? await torrents.texts(torrent.id) : undefined
      const [found] = await numbered([torrent], FILES_OF_ONE)
      if (found === undefined) throw apiError('NOT_FOUND', 'There is no such torrent.')
      return { ...found, texts: { description: torrent.description, mediaInfo: texts?.mediaInfo ?? null } }
    },

    /** The .torrent file. @throws ApiError as `Torrents.download` does */
    download: async (number: number, viewer: Account, tokenId: string) =>
      torrents.download(await idOf(number), viewer, tokenId),

    /** The id of a torrent that the viewer can see. @throws ApiError NOT_FOUND */
    visibleId: async (number: number, viewer: Account) => (await torrents.findVisible(await idOf(number), viewer)).id,

    /** The figures of the account. @throws ApiError as `OwnTorrents.hitAndRuns` does */
    async figures(account: Account): Promise<UserFigures> {
      const { username, role: group, uploaded, downloaded } = account
      const [{ seeding = 0, leeching = 0 }, hitAndRuns] = await Promise.all([
        deps.activity.statistics(account, account.id),
        deps.ownTorrents.hitAndRuns(account.id),
      ])
      return { username, group, uploaded, downloaded, seeding, leeching, hitAndRuns }
    },
  }
}

/** A category or uploader that does not exist has no torrents. */
async function foundBy<Page>(searching: Promise<Page>): Promise<Page | { readonly items: []; readonly total: 0 }> {
  try {
    return await searching
  } catch (error) {
    if (isApiError(error) && error.code === 'BAD_REQUEST') return { items: [], total: 0 }
    throw error
  }
}

function isNamed({ path }: TorrentFile, name: string): boolean {
  return path === name || path.endsWith(`/${name}`)
}
