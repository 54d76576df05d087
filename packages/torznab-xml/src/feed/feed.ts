/** The type of an enclosure (Torznab 1.0, "Generic Changes"), and of the file behind it. */
export const TORRENT_TYPE = 'application/x-bittorrent'

/** A page of results (Newznab Web API, "SEARCH"). */
export type Feed = {
  readonly title: string
  readonly description: string
  /** Absolute URL of the site. */
  readonly siteUrl: string
  /** Absolute URL of the feed, without anybody's key. */
  readonly selfUrl: string
  /** How many results were left out before this page. */
  readonly offset: number
  /** How many results there are on all pages. NZBHydra2 throws away id searches that tell 10,000 or more. */
  readonly total: number
  readonly limits?: ApiLimits | undefined
  readonly items: readonly FeedItem[]
}

/** What the user may do and did in the current window, this request included (Torznab 1.4). */
export type ApiLimits = {
  readonly apiCurrent: number
  readonly apiMax: number
  readonly grabCurrent: number
  readonly grabMax: number
}

/** One torrent. Counts are whole numbers from 0. */
export type FeedItem = {
  readonly title: string
  /** Absolute URL of its page, which is its guid: one for each torrent, never changing, without anybody's key. */
  readonly detailsUrl: string
  /** Absolute URL of the .torrent file, with the user's key. Stable: Sonarr stops paging where it meets one again. */
  readonly downloadUrl: string
  readonly commentsUrl: string
  readonly publishedAt: Date
  /** Bytes of its content. */
  readonly size: number
  readonly files: number
  /** How often it was downloaded. */
  readonly grabs: number
  readonly description: string
  /** Torznab ids, its own first. All of them are in caps, and there is one at least. */
  readonly categories: readonly number[]
  readonly seeders: number
  readonly leechers: number
  /** Lower-case hex. */
  readonly infoHash: string
  /** What counts of a download and of an upload: 0 is freeleech, 2 is double upload (Torznab 1.2). */
  readonly factors: { readonly download: number; readonly upload: number }
  readonly attributes?: ItemAttributes | undefined
}

/** What else is known of a torrent (Torznab 1.3, "Predefined attributes"). */
export type ItemAttributes = {
  readonly [Name in keyof AttributeTypes]?: AttributeTypes[Name] | undefined
}

/** The fields of `ItemAttributes` and what they hold. */
export type AttributeTypes = {
  /** The number in `tt0944947`. */
  imdb: number
  tmdb: number
  tvdb: number
  season: number
  episode: number
  airDate: Date
  year: number
  /** What must be seeded before a client may stop. */
  minimumRatio: number
  minimumSeedSeconds: number
  /** `internal`, `freeleech` and their like. */
  tags: readonly string[]
  genres: readonly string[]
  languages: readonly string[]
  subtitles: readonly string[]
  coverUrl: string
  /** The release group. */
  team: string
  /** Who uploaded it. */
  poster: string
  resolution: string
  videoCodec: string
  audioCodec: string
  showTitle: string
  artist: string
  album: string
  label: string
  bookTitle: string
  author: string
  publisher: string
}
