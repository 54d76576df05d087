import { ratioOf } from '../accounts/activity.ts'
import type { Category } from '../categories/categories.ts'
import type { ListedTorrent } from '../search/listed-torrent.ts'
import { sizeText } from '../torrents/size-text.ts'
import type { TorrentFile } from '../torrents/torrent-file.ts'
import { resolutionIdOf, typeOf } from './numbers.ts'

/** A torrent as UNIT3D's `TorrentResource` needs it. */
export type NumberedTorrent = {
  readonly number: number
  readonly torrent: ListedTorrent
  /** In a list, the first of them. */
  readonly files: readonly TorrentFile[]
  /** Only of a single torrent. */
  readonly texts: { readonly description: string; readonly mediaInfo: string | null } | undefined
}

/** The Torznab ID of torrents without a category. */
const OTHER = 8000

/**
 * A torrent in the shape of UNIT3D. Ids that are unknown are 0, as tools send them.
 *
 * @param links the absolute URLs of its page and its .torrent file
 */
export function torrentResource(
  { number, torrent, files, texts }: NumberedTorrent,
  categories: readonly Category[],
  links: { readonly details: string; readonly download: string },
) {
  const { release, externalIds, downloadPercent, uploadPercent } = torrent
  const category = categories.find(({ slug }) => slug === torrent.category)
  const root = categories.find(({ id }) => id === category?.parentId) ?? category
  const type = typeOf(release.source)
  return {
    type: 'torrent',
    id: String(number),
    attributes: {
      meta: { poster: null, genres: '' },
      name: torrent.name,
      release_year: release.year,
      category: root?.name ?? 'Other',
      type: type?.name ?? 'Other',
      resolution: release.resolution ?? 'Other',
      media_info: texts?.mediaInfo ?? null,
      bd_info: null,
      description: texts?.description ?? null,
      info_hash: torrent.infoHash,
      size: torrent.size,
      num_file: torrent.fileCount,
      files: files.map(({ path, size }, index) => ({ index: index + 1, name: path, size })),
      freeleech: `${100 - downloadPercent}%`,
      double_upload: uploadPercent >= 200,
      refundable: false,
      internal: torrent.internal,
      featured: false,
      personal_release: false,
      uploader: torrent.anonymous ? 'Anonymous' : (torrent.uploader?.username ?? 'Anonymous'),
      seeders: torrent.seeders,
      leechers: torrent.leechers,
      times_completed: torrent.completed,
      tmdb_id: externalIds.tmdb ?? 0,
      imdb_id: externalIds.imdb ?? 0,
      tvdb_id: externalIds.tvdb ?? 0,
      mal_id: 0,
      igdb_id: 0,
      category_id: category?.torznabId ?? OTHER,
      type_id: type?.id ?? null,
      resolution_id: resolutionIdOf(release.resolution) ?? null,
      created_at: torrent.createdAt,
      download_link: links.download,
      details_link: links.details,
    },
  }
}

/** What `userResource` shows, in bytes and torrents. */
export type UserFigures = {
  readonly username: string
  readonly group: string
  readonly uploaded: number
  readonly downloaded: number
  readonly seeding: number
  readonly leeching: number
  /** Torrents that the member still has to seed, and has not announced for a day. */
  readonly hitAndRuns: number
}

/** A member in the shape of UNIT3D. The site has no bonus points and requires no ratio, so the buffer is that of ratio 1. */
export function userResource({ username, group, uploaded, downloaded, seeding, leeching, hitAndRuns }: UserFigures) {
  const ratio = ratioOf(uploaded, downloaded)
  return {
    username,
    group,
    uploaded: sizeText(uploaded, 2),
    downloaded: sizeText(downloaded, 2),
    ratio: ratio === null ? '∞' : String(Math.round(ratio * 100) / 100),
    buffer: sizeText(uploaded - downloaded, 2),
    seeding,
    leeching,
    seedbonus: '0',
    hit_and_runs: hitAndRuns,
  }
}
