/** The type of an enclosure (Torznab 1.0, "Generic Changes"), and of the .torrent file. */
export const TORRENT_TYPE = 'application/x-bittorrent'

/** A page of results (Newznab Web API, "SEARCH"). */
export type Feed = {
  readonly title: string
  readonly description: string
  /** Absolute URL of the site. */
  readonly siteUrl: string
  /** Absolute URL of the feed, without an API key. */
  readonly selfUrl: string
  /** Number of results before this page. */
  readonly offset: number
  /** Number of results on all pages. NZBHydra2 discards id searches with 10,000 or more. */
  readonly total: number
  readonly limits?: ApiLimits | undefined
  readonly items: readonly FeedItem[]
}

/** The user's limits and requests in the current window, including this request (Torznab 1.4). */
export type ApiLimits = {
  readonly apiCurrent: number
  readonly apiMax: number
  readonly grabCurrent: number
  readonly grabMax: number
}

/** One torrent. Counts are whole numbers from 0. */
export type FeedItem = {
  readonly title: string
  /** Absolute URL of its page, which is its guid: unique and permanent, without an API key. */
  readonly detailsUrl: string
  /**
   * Absolute URL of the .torrent file with the user's key. It is stable: Sonarr stops paging when one appears again.
   */
  readonly downloadUrl: string
  readonly commentsUrl: string
  readonly publishedAt: Date
  /** Bytes of its content. */
  readonly size: number
  readonly files: number
  /** Number of downloads. */
  readonly grabs: number
  readonly description: string
  /** At least one Torznab ID, its own first. All of them are in caps. */
  readonly categories: readonly number[]
  readonly seeders: number
  readonly leechers: number
  /** Lower-case hex. */
  readonly infoHash: string
  /** The rates of downloads and uploads: 0 is freeleech, 2 is double upload (Torznab 1.2). */
  readonly rates: { readonly download: number; readonly upload: number }
  readonly attributes?: ItemAttributes | undefined
}

/** Optional attributes of a torrent (Torznab 1.3, "Predefined attributes"). */
export type ItemAttributes = {
  readonly [Name in keyof AttributeTypes]?: AttributeTypes[Name] | undefined
}

export type AttributeTypes = {
  /** The number in `tt0944947`. */
  imdb: number
  tmdb: number
  tvdb: number
  season: number
  episode: number
  airDate: Date
  year: number
  /** Such as `internal` and `freeleech`. */
  tags: readonly string[]
  /** The release group. */
  team: string
  /** Who uploaded it. */
  poster: string
  /** The writer of a book; of anything else the uploader, whom autobrr reads from it. */
  author: string
  resolution: string
  videoCodec: string
  /** Audio formats and channels, such as `TrueHD Atmos 7.1`. */
  audio: string
  /** Formats such as `DV HDR10`. The attribute is not in the standard. */
  hdr: string
  /** Their English names, which Sonarr and Radarr look up. */
  languages: readonly string[]
  showTitle: string
  minimumSeedSeconds: number
  /** Reached by upload, it ends the duty to seed before the minimum time. */
  minimumRatio: number
}
