import { type ParsedResult, parseTorrentTitle } from '@viren070/parse-torrent-title'
import type { ParsedRelease, ReleaseKind } from './release.ts'
import { numberingOf } from './release-name-numbering.ts'
import {
  findAirDate,
  findAudio,
  findChannels,
  findEditions,
  findFormat,
  findHdr,
  findNoise,
  findPlatform,
  findResolution,
  findSource,
  findVideoCodec,
  findYear,
  MUSIC_CODECS,
} from './release-name-tags.ts'
import { cutText } from './search-words.ts'

export type { ParsedRelease, Release } from './release.ts'

/** Longer names are cut: the catalogue stores no more, and the library slows down with the length. */
const MAX_LENGTH = 255

/** Markers for season and episode beyond this number are hidden from the library. */
const MAX_MARKERS = 4

const EXTENSION = /\.(?:mkv|mp4|avi|torrent|flac|mp3|epub|mobi|azw3?|pdf|cb[rz7]|djvu|m4b|iso)$/i

const CONSOLES: ReadonlySet<string> = new Set(['PlayStation', 'Xbox', 'Nintendo'])

/**
 * Parses a release name. Nothing is guessed: fields without a common spelling are null. Any text is parsed within
 * milliseconds.
 *
 * `@viren070/parse-torrent-title` provides languages and the numbering of anime and of series in other languages. This
 * module parses what the library misses or takes from words of the title.
 *
 * @param name such as `Example.Show.S01E02.1080p.WEB-DL.H.264-GROUP`
 */
export function parseReleaseName(name: string): ParsedRelease {
  const withExtension = cutText(name, MAX_LENGTH)
  const text = withExtension
    .replace(EXTENSION, '')
    .replaceAll('_', ' ')
    .replace(/【(.*?)】/g, '[$1]')
  const library = parseTorrentTitle(forLibrary(text))

  const [resolution, videoCodec, audio] = [findResolution(text), findVideoCodec(text), findAudio(text)]
  const [source, format] = [findSource(text), findFormat(withExtension)]
  const isVideo = resolution !== undefined || videoCodec !== undefined
  const isAnime = isVideo && /^\[(?! ?www\.)[^\]]+\]/i.test(text)
  const platform = isVideo ? undefined : findPlatform(text)

  // In names other than those of films and series, numbers are versions, tracks or volumes.
  const mayBeSeries = format === undefined && platform === undefined && (isVideo || audio.length === 0)
  const { seasons = [], episodes = [] } = mayBeSeries ? library : {}
  const numbering = numberingOf(text, { seasons, episodes }, isAnime)
  const airDate = findAirDate(text)
  const year = findYear(text, airDate)

  // In the title of a film or series, words such as those of editions are ordinary words.
  const titleEnd = isVideo ? first([numbering, airDate, year, resolution], text.length) : 0
  const tail = text.slice(titleEnd)
  const editions = findEditions(tail).map(({ value, at }) => ({ value, at: at + titleEnd }))
  const tags = [numbering, airDate, year, resolution, source, videoCodec, format, platform, ...audio, ...editions]
  // Scene names have no spaces. In others, a dash introduces a group only after tags.
  const isSceneName = !withExtension.includes(' ') && /[._]/.test(withExtension)
  const group = groupOf(text, isSceneName || tags.some((tag) => tag !== undefined))
  const end = first([...tags, group, ...findNoise(text, isVideo)], text.length)

  const [seasonFrom, seasonTo] = numbering?.seasons ?? [null, null]
  const [episodeFrom, episodeTo] = numbering?.episodes ?? [null, null]
  const [absoluteFrom, absoluteTo] = numbering?.absolute ?? [null, null]
  return {
    title: titleOf(text.slice(0, end)),
    year: year?.value ?? null,
    seasonFrom,
    seasonTo,
    episodeFrom,
    episodeTo,
    absoluteFrom,
    absoluteTo,
    airDate: airDate?.value ?? null,
    resolution: resolution?.value ?? null,
    // PAL and NTSC are also regions of console games.
    source: CONSOLES.has(platform?.value ?? '') ? null : (source?.value ?? null),
    codec: videoCodec?.value ?? audio.find(({ value }) => !isVideo && MUSIC_CODECS.has(value))?.value ?? null,
    group: group?.value ?? null,
    hdr: isVideo ? findHdr(tail).map(({ value }) => value) : [],
    audio: audio.map(({ value }) => value),
    channels: isVideo || audio.length > 0 ? findChannels(tail) : null,
    languages: languagesOf(text, library),
    editions: editions.map(({ value }) => value),
    isProper: /\b(?:PROPER|REAL)\b|\dv[2-9]\b/i.test(tail),
    isRepack: /\b(?:REPACK\d?|RERIP)\b/i.test(tail),
    format: format?.value ?? null,
    platform: platform?.value ?? null,
    kind: isAnime ? 'anime' : kindOf(text, tail, format?.value, airDate !== undefined),
  }
}

/**
 * Prepares a name for the library. The library mistakes the script of a title for the audio language, and its time grows
 * quadratically with such letters, so only a few words for season and episode keep them. It also expands ranges of
 * numbers, so numbers too large for episodes are hidden from it. Its time doubles with each separator that repeats after a
 * season, so one of them stands for all.
 */
function forLibrary(text: string): string {
  let markers = 0
  return text
    .replace(/\d{6,}/g, hidden)
    .replace(/([,/\\&])[,/\\&]+/g, '$1')
    .replace(
      /(?:сезон|сери)\p{Script=Cyrillic}{0,3}|[^\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]/giu,
      (found) => (found.length > 2 && ++markers <= MAX_MARKERS ? found : hidden(found)),
    )
}

/** A placeholder for text that the library must not see. */
function hidden(text: string): string {
  return 'o'.repeat(text.length)
}

/** The position of the first of these, ignoring the very start of the name. */
function first(found: readonly ({ readonly at: number | undefined } | undefined)[], otherwise: number): number {
  return Math.min(...found.flatMap((one) => (one?.at !== undefined && one.at > 0 ? [one.at] : [])), otherwise)
}

function languagesOf(text: string, library: ParsedResult): readonly string[] {
  const languages = (library.languages ?? []).flatMap((language) => {
    if (/^(?:multi|dual) audio$/.test(language)) return ['mul']
    const code = language.split('-')[0] ?? ''
    return code.length === 2 ? [code] : []
  })
  // GERMAN.DL is German and the original language.
  if (/\bGERMAN[. ]DL\b|\bMULTi\d+\b/i.test(text)) languages.push('mul')
  return [...new Set(languages)]
}

/** The bracketed group at the start of anime releases, or the word after the last dash. */
function groupOf(text: string, hasGroup: boolean): { value: string; at: number } | undefined {
  if (!hasGroup) return undefined
  const bracketed = /^\[(?! ?www\.)([^\]]{2,30})\]/i.exec(text)?.[1]
  if (bracketed !== undefined) return { value: bracketed.trim(), at: 0 }
  const dashed = /-(?=\d*[A-Za-z])([A-Za-z0-9]{2,30})(?: ?\[[^\]]*\])?$/.exec(text)
  const value = dashed?.[1]
  return value === undefined || /^(?:DL|Rip|Ray|HD|MA|X|x64|x86|amd64|arm64)$/i.test(value)
    ? undefined
    : { value, at: dashed?.index ?? 0 }
}

function titleOf(text: string): string | null {
  const title = text
    .replace(/^\[[^\]]*\](?: *- )? */, '')
    .replace(/[. ]+/g, ' ')
    .replace(/^\[([^\]]+)\][\s[(]*$/, '$1')
    .replace(/[\s([{/-]+$/, '')
    .trim()
  return title === '' ? null : title
}

const MONTH =
  /\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b/i

function kindOf(text: string, tail: string, format: string | undefined, isDated: boolean): ReleaseKind | null {
  if (/\b(?:DOCUMENTARY|DOCU)\b/i.test(tail)) return 'documentary'
  if (format === 'CBR' || format === 'CBZ' || format === 'CB7') return 'comic'
  if (format === 'M4B' || /\b(?:AUDIOBOOK|ABOOK|UNABRIDGED)\b/i.test(text)) return 'audiobook'
  if (/\bMAGAZINE\b/i.test(text)) return 'magazine'
  const isIssue = isDated || /\bIssue ?\d/i.test(text) || (MONTH.test(text) && /\b20\d{2}\b/.test(text))
  return format === 'PDF' && isIssue ? 'magazine' : null
}
