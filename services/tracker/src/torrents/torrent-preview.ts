import type { Categories } from '../categories/categories.ts'
import { type KnownRelease, type Relation, type Verdict, verdictOn } from '../releases/related-releases.ts'
import type { Release } from '../releases/release.ts'
import { parseReleaseName } from '../releases/release-name.ts'
import type { ExternalIds, ListedTorrent } from '../search/listed-torrent.ts'
import type { TorrentContent, TorrentFileReader } from './torrent-file.ts'
import { maySee, type TorrentStore, type Viewer } from './torrents.ts'

/** The preview of an upload. */
export type TorrentPreview = Pick<TorrentContent, 'name' | 'infoHash' | 'size' | 'fileCount' | 'firstFiles'> & {
  /** Null if none was chosen. */
  readonly category: string | null
  /** The category that fits the name; null if none does. */
  readonly proposedCategory: string | null
  readonly release: Release
  /** `exists` if the catalogue contains the same info hash; null if nothing speaks against an upload. */
  readonly verdict: Verdict | 'exists' | null
  /** The torrents behind the verdict and other versions, as far as the viewer may see them. */
  readonly related: readonly { readonly relation: Relation | 'same'; readonly torrent: ListedTorrent }[]
}

export type TorrentPreviews = ReturnType<typeof createTorrentPreviews>

/**
 * Previews of uploads.
 *
 * @param deps `source` as for uploads
 */
export function createTorrentPreviews(deps: {
  store: Pick<TorrentStore, 'byInfoHash' | 'related'>
  torrentFiles: Pick<TorrentFileReader, 'read'>
  categories: Pick<Categories, 'forRelease' | 'proposedFor'>
  source: string
}) {
  const { store, categories } = deps
  return {
    /**
     * Reads a file as `upload` does, without adding it, and relates it to the catalogue.
     *
     * @throws ApiError BAD_REQUEST naming the problem of the file or category
     */
    async read(
      by: Viewer,
      upload: {
        bytes: Buffer
        name: string | undefined
        category: string | undefined
        externalIds: ExternalIds
      },
    ): Promise<TorrentPreview> {
      const content = await deps.torrentFiles.read(upload.bytes, deps.source, by.id)
      const { infoHash, size, fileCount, firstFiles } = content
      const name = upload.name ?? content.name
      const release = parseReleaseName(name)
      const chosen = upload.category === undefined ? undefined : await categories.forRelease(upload.category, release)
      const proposed = await categories.proposedFor(release)
      return {
        ...{ name, infoHash, size, fileCount, firstFiles, release },
        category: chosen?.slug ?? null,
        proposedCategory: proposed?.slug ?? null,
        ...(await relatedTo(content, { release, externalIds: upload.externalIds }, by)),
      }
    },
  }

  /** What the catalogue says about an upload. */
  async function relatedTo(
    content: TorrentContent,
    known: KnownRelease,
    viewer: Viewer,
  ): Promise<Pick<TorrentPreview, 'verdict' | 'related'>> {
    const [same, related] = await Promise.all([store.byInfoHash(content), store.related(known, viewer)])
    const others = related.filter(({ torrent }) => torrent.id !== same?.id)
    const all = [...(same === undefined ? [] : [{ relation: 'same', torrent: same } as const]), ...others]
    const verdict = verdictOn(
      known,
      others.map(({ relation, torrent }) => ({ relation, release: torrent.release })),
    )
    return {
      verdict: same === undefined ? (verdict ?? null) : 'exists',
      related: all.filter(({ torrent }) => maySee(torrent, viewer)),
    }
  }
}
