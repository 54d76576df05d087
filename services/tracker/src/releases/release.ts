/** The fields of a release name that the catalogue stores; null if the name does not contain them. */
export type Release = {
  /** The part before the first tag, dots as spaces. */
  readonly title: string | null
  readonly year: number | null
  /** Both ends are equal for a single season or episode. A season without episodes is a pack. */
  readonly seasonFrom: number | null
  readonly seasonTo: number | null
  readonly episodeFrom: number | null
  readonly episodeTo: number | null
  /** `YYYY-MM-DD` of a daily show, always a valid date. */
  readonly airDate: string | null
  /** `480p` to `4320p`, or interlaced such as `1080i`. */
  readonly resolution: string | null
  readonly source: string | null
  /** The video codec, or the audio format of a release without video. */
  readonly codec: string | null
  readonly group: string | null
  /** Episodes counted from the start of the series, as in anime; never together with a season. */
  readonly absoluteFrom: number | null
  readonly absoluteTo: number | null
  /** `DV`, `HDR10+`, `HDR10`, `HDR`, `HLG`. */
  readonly hdr: readonly string[]
  /** Such as `TrueHD`, `Atmos`, `DTS-HD MA`, `DDP` or `FLAC`. */
  readonly audio: readonly string[]
  /** Such as `5.1`. */
  readonly channels: string | null
  /** ISO 639-1 codes of the audio; `mul` (ISO 639-2) if the name only says that there are several. */
  readonly languages: readonly string[]
  /** Such as `Extended` or `Director's Cut`. */
  readonly editions: readonly string[]
  /** Replaces a faulty release of another group, or an earlier version (`v2`). */
  readonly isProper: boolean
  /** Replaces a faulty release of the same group. */
  readonly isRepack: boolean
}

/** The kind of content, if the name reveals it. */
export type ReleaseKind = 'anime' | 'documentary' | 'comic' | 'magazine' | 'audiobook'

/** All parsed fields. The ones that are not stored choose the category. */
export type ParsedRelease = Release & {
  /** The file format of a book, an image or an audiobook: `EPUB`, `CBZ`, `ISO`. */
  readonly format: string | null
  /** The platform of games and software: `Windows`, `macOS`, `Linux`, `PlayStation`, `Xbox` or `Nintendo`. */
  readonly platform: string | null
  readonly kind: ReleaseKind | null
}
