/** What a release name tells about its content; null where it says nothing. This is what the catalogue keeps. */
export type Release = {
  /** The part before the first tag, dots as spaces. */
  readonly title: string | null
  readonly year: number | null
  /** A single season has both ends equal; so has a single episode. A season without episodes is a pack. */
  readonly seasonFrom: number | null
  readonly seasonTo: number | null
  readonly episodeFrom: number | null
  readonly episodeTo: number | null
  /** `YYYY-MM-DD` of a daily show, a day that exists. */
  readonly airDate: string | null
  /** `480p` to `4320p`, or interlaced such as `1080i`. */
  readonly resolution: string | null
  readonly source: string | null
  /** Of the picture; of the sound where there is no picture. */
  readonly codec: string | null
  readonly group: string | null
  /** Episodes counted from the beginning of the series, as anime has them; never together with a season. */
  readonly absoluteFrom: number | null
  readonly absoluteTo: number | null
  /** `DV`, `HDR10+`, `HDR10`, `HDR`, `HLG`. */
  readonly hdr: readonly string[]
  /** `TrueHD`, `Atmos`, `DTS-HD MA`, `DDP`, `FLAC` and their like. */
  readonly audio: readonly string[]
  /** `5.1` and its like. */
  readonly channels: string | null
  /** ISO 639-1 codes of the sound; `mul` (ISO 639-2) when the name only says that there are several. */
  readonly languages: readonly string[]
  /** `Extended`, `Director's Cut` and their like. */
  readonly editions: readonly string[]
  /** Takes the place of a faulty release of another group, or of an earlier version of the same (`v2`). */
  readonly isProper: boolean
  /** Takes the place of a faulty release of the same group. */
  readonly isRepack: boolean
}

/** What the name says of the kind of its content. */
export type ReleaseKind = 'anime' | 'documentary' | 'comic' | 'magazine' | 'audiobook'

/** All that can be read from a name; the rest chooses its category. */
export type ParsedRelease = Release & {
  /** The file format of a book, an image or an audiobook: `EPUB`, `CBZ`, `ISO`. */
  readonly format: string | null
  /** What games and software run on: `Windows`, `macOS`, `Linux`, `PlayStation`, `Xbox`, `Nintendo`. */
  readonly platform: string | null
  readonly kind: ReleaseKind | null
}
