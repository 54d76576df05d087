import type { Verdict } from '../releases/related-releases.ts'
import type { Release } from '../releases/release.ts'

/** The states of a torrent in moderation. */
export const TORRENT_STATES = ['pending', 'approved', 'rejected'] as const
export type TorrentState = (typeof TORRENT_STATES)[number]

/** Ids in databases of films and series. */
export type ExternalIds = Readonly<Record<'imdb' | 'tmdb' | 'tvdb', number | null>>

/** A torrent in a list. Hashes are lowercase hex; `category` is a slug, empty if all categories were deleted. */
export type ListedTorrent = {
  readonly id: string
  /** The info hash of BEP 3, or the truncated one of BEP 52 for a pure v2 torrent. */
  readonly infoHash: string
  /** The truncated BEP 52 info hash of a hybrid torrent. */
  readonly infoHashV2: string | null
  readonly name: string
  readonly category: string
  readonly size: number
  readonly fileCount: number
  readonly uploader: { readonly id: string; readonly username: string } | null
  /** Whether only staff and the uploader may see who uploaded it. */
  readonly anonymous: boolean
  /** Whether staff of the site made the release. */
  readonly internal: boolean
  readonly scene: boolean
  /** What the catalogue said about the release when it was uploaded. For staff and the uploader. */
  readonly verdict: Verdict | null
  readonly externalIds: ExternalIds
  readonly state: TorrentState
  readonly stateReason: string | null
  /** Percentage of downloads that is counted: 0 is freeleech. */
  readonly downloadPercent: number
  /** Percentage of uploads that is counted: 200 is double upload. */
  readonly uploadPercent: number
  readonly release: Release
  readonly seeders: number
  readonly leechers: number
  readonly completed: number
  readonly createdAt: Date
  /** Another one after each change of the torrent, so that staff decide about what they saw. */
  readonly version: string
}

/** Reads the torrents of lists. */
export type ListedTorrents = {
  /** Torrents in the order of their ids, except deleted ones. */
  byIds(ids: readonly string[]): Promise<readonly ListedTorrent[]>
}
