/** What a release name tells about its content; null where it says nothing. */
export type Release = {
  /** The part before the first tag, dots as spaces. */
  readonly title: string | null
  readonly year: number | null
  /** A single season has both ends equal; so has a single episode. */
  readonly seasonFrom: number | null
  readonly seasonTo: number | null
  readonly episodeFrom: number | null
  readonly episodeTo: number | null
  /** `YYYY-MM-DD` of a daily show. */
  readonly airDate: string | null
  readonly resolution: string | null
  readonly source: string | null
  readonly codec: string | null
  readonly group: string | null
}

type Tag = readonly [value: string, pattern: RegExp]

const SOURCES: readonly Tag[] = [
  ['WEB-DL', /\bWEB[-. ]?DL\b/i],
  ['WEBRip', /\bWEB[-. ]?Rip\b/i],
  ['Remux', /\b(?:BD[-. ]?)?Remux\b/i],
  ['BluRay', /\b(?:Blu-?Ray|BDRip|BRRip|BD(?:25|50|66|100)?)\b/i],
  ['HDTV', /\b(?:HDTV|PDTV|DSR|DVBRip|TVRip)\b/i],
  ['DVD', /\b(?:DVDRip|DVD[-. ]?[59R]?|NTSC|PAL)\b/i],
  ['WEB', /\bWEB\b/],
  ['CD', /\bCD(?:Rip)?\b/],
  ['Vinyl', /\bVinyl\b/i],
]

const CODECS: readonly Tag[] = [
  ['x265', /\bx[. ]?265\b/i],
  ['H.265', /\b(?:H[. ]?265|HEVC)\b/i],
  ['x264', /\bx[. ]?264\b/i],
  ['H.264', /\b(?:H[. ]?264|AVC)\b/i],
  ['AV1', /\bAV1\b/i],
  ['VP9', /\bVP9\b/i],
  ['XviD', /\b(?:XviD|DivX)\b/i],
  ['MPEG-2', /\bMPEG-?2\b/i],
  ['VC-1', /\bVC-?1\b/i],
  ['FLAC', /\bFLAC\b/i],
  ['ALAC', /\bALAC\b/i],
  ['MP3', /\bMP3\b/i],
  ['AAC', /\bAAC\b/i],
]

const RESOLUTION = /\b(480|540|576|720|1080|1440|2160|4320)[pi]\b/i
const UHD = /\b(?:4K|UHD)\b/i
const AIR_DATE = /\b((?:19|20)\d{2})[-. ](0[1-9]|1[0-2])[-. ](0[1-9]|[12]\d|3[01])\b/
const YEAR = /(?:^|[ (.[_-])((?:19|20)\d{2})(?=$|[ ).\]_-])/g
/** S01E02, S01E02E03, S01E02-E05, S01E02-05, S01.E02 */
const EPISODES = /\bS(\d{1,4})[. _-]?E(\d{1,4})((?:[. _]?-?[. _]?E\d{1,4})*)(-\d{1,4}(?![\dpi]))?/i
/** 1x02, 1x02-05 */
const CROSSED = /\b(\d{1,2})x(\d{2,3})(?:-(?:\d{1,2}x)?(\d{2,3}))?\b/i
/** S01, S01-S03, S01-03, Season 1, Seasons 1-3 */
const SEASONS = /\b(?:S(\d{1,2})(?:-S?(\d{1,2}))?|Seasons?[ .]?(\d{1,2})(?:[ .]?-[ .]?(\d{1,2}))?)\b/i

/**
 * Reads a release name. Nothing is guessed: what is not written in one of the usual ways is null.
 *
 * @param name such as `Example.Show.S01E02.1080p.WEB-DL.H.264-GROUP`
 */
export function parseReleaseName(name: string): Release {
  const text = name.replace(/\.(?:mkv|mp4|avi|torrent|flac|mp3|epub|pdf|iso)$/i, '').replaceAll('_', ' ')
  const numbering = numberingOf(text)
  const airDate = numbering === undefined ? AIR_DATE.exec(text) : null
  const year = yearOf(text, airDate)
  const resolution = RESOLUTION.exec(text)
  const source = firstTag(SOURCES, text)
  const codec = firstTag(CODECS, text)
  const tags = [numbering?.at, airDate?.index, year?.at, resolution?.index, source?.at, codec?.at]
  const end = Math.min(...tags.flatMap((at) => (at !== undefined && at > 0 ? [at] : [])), text.length)
  return {
    title: titleOf(text.slice(0, end)),
    year: year?.value ?? null,
    seasonFrom: numbering?.seasons[0] ?? null,
    seasonTo: numbering?.seasons[1] ?? null,
    episodeFrom: numbering?.episodes?.[0] ?? null,
    episodeTo: numbering?.episodes?.[1] ?? null,
    airDate: airDate === null ? null : airDate.slice(1, 4).join('-'),
    resolution: resolution === null ? (UHD.test(text) ? '2160p' : null) : resolution[0].toLowerCase(),
    source: source?.value ?? null,
    codec: codec?.value ?? null,
    group: tags.every((at) => at === undefined) ? null : groupOf(text),
  }
}

type Range = readonly [from: number, to: number]
type Numbering = { readonly at: number; readonly seasons: Range; readonly episodes?: Range }

function numberingOf(text: string): Numbering | undefined {
  const episodes = EPISODES.exec(text)
  if (episodes) {
    const [, season = '', first = '', more = '', last = ''] = episodes
    const numbers = [first, ...`${more} ${last}`.split(/\D+/)].filter((part) => part !== '').map(Number)
    return {
      at: episodes.index,
      seasons: [Number(season), Number(season)],
      episodes: [Math.min(...numbers), Math.max(...numbers)],
    }
  }
  const crossed = CROSSED.exec(text)
  if (crossed) {
    const [, season = '', first = '', last = first] = crossed
    return { at: crossed.index, seasons: [Number(season), Number(season)], episodes: [Number(first), Number(last)] }
  }
  const seasons = SEASONS.exec(text)
  if (seasons === null) return undefined
  const from = Number(seasons[1] ?? seasons[3])
  const to = Number(seasons[2] ?? seasons[4] ?? from)
  return { at: seasons.index, seasons: [from, Math.max(from, to)] }
}

/** The last year that is not the very beginning: `2001.A.Title.1968` is of 1968. */
function yearOf(text: string, airDate: RegExpExecArray | null): { value: number; at: number } | undefined {
  if (airDate) return { value: Number(airDate[1]), at: airDate.index }
  const found = [...text.matchAll(YEAR)].filter((match) => match.index > 0)
  const last = found.at(-1)
  return last && { value: Number(last[1]), at: last.index }
}

function firstTag(tags: readonly Tag[], text: string): { value: string; at: number } | undefined {
  for (const [value, pattern] of tags) {
    const found = pattern.exec(text)
    if (found) return { value, at: found.index }
  }
  return undefined
}

function titleOf(text: string): string | null {
  const title = text
    .replace(/^\[[^\]]*\]\s*/, '')
    .replace(/[. ]+/g, ' ')
    .replace(/[\s([{-]+$/, '')
    .trim()
  return title === '' ? null : title
}

/** The word after the last dash, or the bracketed one that anime releases begin with. */
function groupOf(text: string): string | null {
  const bracketed = /^\[([^\]]{2,30})\]/.exec(text)
  const dashed = /-([A-Za-z0-9]{2,30})$/.exec(text)
  return bracketed?.[1] ?? dashed?.[1] ?? null
}
