/** A tag in a name, and its position. */
export type Found = { readonly value: string; readonly at: number }

type Tag = readonly [value: string, pattern: RegExp]

/** The first match counts, so more specific tags come first. */
const SOURCES: readonly Tag[] = [
  ['WEB-DL', /\bWEB[-. ]?DL\b/i],
  ['WEBRip', /\bWEB[-. ]?Rip\b/i],
  ['Remux', /\b(?:BD[-. ]?)?Remux\b/i],
  [
    'BluRay disc',
    /\b(?:COMPLETE[. ](?:UHD[. ])?BLU-?RAY|BD(?:25|50|66|100)|BDMV|(?:UHD[. ])?BLU-?RAY[. ](?:AVC|VC-?1|MPEG-?2|ISO)(?!\w))\b/i,
  ],
  ['BluRay', /\b(?:(?:UHD[-. ]?)?Blu-?Ray|BDRip|BRRip|BD(?:\d{3,4}p)?)\b/i],
  ['SCR', /\b(?:DVD[-. ]?SCR|SCREENER)\b/i],
  ['HDTV', /\b(?:HDTV|PDTV|DSR|DVBRip|TVRip|SATRip)\b/i],
  ['DVD', /\b(?:DVDRip|DVD[-. ]?[59R]?|NTSC|PAL)\b/i],
  ['HDRip', /\bHD-?Rip\b/i],
  // Case-sensitive, because these are also words in titles.
  ['CAM', /\b(?:HD)?CAM(?:Rip)?\b|\bHDCam\b/],
  ['TS', /\b(?:HD-?TS|TELESYNC|TS)\b/],
  ['TC', /\b(?:HD-?TC|TELECINE)\b/],
  ['WEB', /\bWEB\b/],
  ['SACD', /\bSACD\b/],
  ['CD', /\b(?:\d{1,2})?CD(?:Rip|S|M|EP)?\b/],
  ['Vinyl', /\bVinyl\b/i],
]

const VIDEO_CODECS: readonly Tag[] = [
  ['x265', /\bx[. ]?265\b/i],
  ['H.265', /\b(?:H[. ]?265|HEVC)\b/i],
  ['x264', /\bx[. ]?264\b/i],
  ['H.264', /\b(?:H[. ]?264|AVC)\b/i],
  ['AV1', /\bAV1\b/i],
  ['VP9', /\bVP9\b/i],
  ['XviD', /\b(?:XviD|DivX)\b/i],
  ['MPEG-2', /\bMPEG-?2\b/i],
  ['VC-1', /\bVC-?1\b/i],
]

const AUDIO: readonly Tag[] = [
  ['DTS-HD MA', /\bDTS[-. ]?HD[-. ]?MA\b/i],
  ['DTS-HD', /\bDTS[-. ]?HD\b(?![-. ]?MA\b)/i],
  ['DTS:X', /\bDTS[-:. ]?X\b/i],
  ['DTS', /\bDTS\b(?![-:. ]?(?:HD|X)\b)/i],
  ['TrueHD', /\bTrue-?HD/i],
  ['Atmos', /\bAtmos\b/i],
  ['DDP', /\b(?:DDPA?|DD\+|E-?AC-?3)(?![a-z])/i],
  ['DD', /\b(?:DD|AC-?3)(?![a-z+])/i],
  ['AAC', /\b(?:AAC|M4A)(?![a-z])/i],
  ['FLAC', /\bFLAC(?![a-z])/i],
  ['ALAC', /\bALAC\b/i],
  ['APE', /\bAPE\b/],
  ['DSD', /\bDSD(?:64|128|256)?\b/],
  ['WAV', /\bWAV\b/],
  ['OGG', /\b(?:OGG|Vorbis)\b/i],
  ['Opus', /\bOpus\b/i],
  ['PCM', /\bL?PCM\b/i],
  ['MP3', /\bMP3\b|[[( ](?:V0|V2|320|320 ?kbps)[\])]/i],
]

const HDR: readonly Tag[] = [
  ['DV', /\b(?:DV|DoVi|Dolby[. ]?Vision)\b/i],
  ['HDR10+', /\bHDR10(?:\+|P\b|Plus\b)/i],
  ['HDR10', /\bHDR10\b(?!\+)/i],
  ['HDR', /\bHDR\b/i],
  ['HLG', /\bHLG\b/i],
]

/** `5.1`, `DDP5.1`, `6CH`; `v5.1` is a version. */
const CHANNELS = /(?<![\dv])([1-9]\.[01])(?!\d)|\b([268])ch\b/i
const CHANNELS_OF_COUNT: Readonly<Record<string, string>> = { 2: '2.0', 6: '5.1', 8: '7.1' }

const EDITIONS: readonly Tag[] = [
  ["Director's Cut", /\bDirector'?s[. ]Cut\b/i],
  ['Final Cut', /\bFinal[. ]Cut\b/i],
  ['Extended', /\bExtended\b/i],
  ['Theatrical', /\bTheatrical\b/i],
  ['Unrated', /\bUnrated\b/i],
  ['Uncut', /\bUncut\b/i],
  ['Uncensored', /\bUncensored\b/i],
  ['Special Edition', /\bSpecial[. ]Edition\b/i],
  ["Collector's", /\bCollector'?s\b/i],
  ['Deluxe', /\bDeluxe\b/i],
  ['Anniversary', /\bAnniversary\b/i],
  ['Criterion', /\bCriterion\b/i],
  ['Remastered', /\bRemaster(?:ed)?\b/i],
  ['Restored', /\bRestored\b/i],
  ['IMAX', /\bIMAX\b/i],
  ['Open Matte', /\bOpen[. ]Matte\b/i],
  ['Hybrid', /\bHybrid\b(?![. ]Magazine)/i],
]

const PLATFORMS: readonly Tag[] = [
  ['PlayStation', /\b(?:PS[1-5]|PSP|PSV(?:ita)?|PSX|PlayStation)\b/i],
  ['Xbox', /\b(?:XBOX(?:[. ]?(?:360|ONE|SERIES))?|X360)\b/i],
  ['Nintendo', /\b(?:NSW|NSP|XCI|Wii ?U?|[N3]DS|GameCube|GBA)\b|[[(]Switch[\])]/],
  ['macOS', /\b(?:mac[. ]?os(?:[. ]?x)?|OSX)\b/i],
  ['Linux', /\bLinux\b/i],
  ['Windows', /\b(?:Windows|WINDOWS|WIN|WiN|Win(?:32|64))\b/],
]

/** Words that are not part of a title and have no field. */
const NOISE: readonly Tag[] = [
  ['', /\b(?:retail|multi\d*|incl|(?:16|24) ?bit|audiobook|abook|unabridged)\b/i],
  // The range of a collection, such as `1990-2010`.
  ['', /(?<=[ (.[-])(?:19|20)\d{2} ?- ?(?:19|20)\d{2}\b/],
]

/** Audio formats that are the codec of a release without video. */
export const MUSIC_CODECS: ReadonlySet<string> = new Set([
  'FLAC',
  'ALAC',
  'APE',
  'DSD',
  'WAV',
  'MP3',
  'AAC',
  'OGG',
  'Opus',
])

const LINES = ['480', '540', '576', '720', '1080', '1440', '2160', '4320'] as const

/** All values that a field of a release can have. */
export const RELEASE_VALUES = {
  resolution: LINES.flatMap((lines) => [`${lines}p`, `${lines}i`]),
  source: SOURCES.map(([value]) => value),
  codec: [...VIDEO_CODECS.map(([value]) => value), ...MUSIC_CODECS],
  hdr: HDR.map(([value]) => value),
  audio: AUDIO.map(([value]) => value),
} as const

const FORMAT = /\b(epub|mobi|azw3?|pdf|cb[rz7]|djvu|m4b|iso|nsp|xci)\b/i
const RESOLUTION = new RegExp(`(?<![\\dx])((?:${LINES.join('|')})[pi])(?:\\d{2})?\\b`, 'i')
const UHD = /\b(?:4K|UHD)\b/i

export const findSource = (text: string): Found | undefined => firstTag(SOURCES, text)
export const findVideoCodec = (text: string): Found | undefined => firstTag(VIDEO_CODECS, text)
export const findPlatform = (text: string): Found | undefined => firstTag(PLATFORMS, text)
export const findAudio = (text: string): readonly Found[] => allTags(AUDIO, text)
export const findHdr = (text: string): readonly Found[] => allTags(HDR, text)
export const findEditions = (text: string): readonly Found[] => allTags(EDITIONS, text)

/** In the names of films and series these are ordinary words. */
export const findNoise = (text: string, isVideo: boolean): readonly Found[] => (isVideo ? [] : allTags(NOISE, text))

export function findFormat(text: string): Found | undefined {
  const found = FORMAT.exec(text)
  return found?.[1] === undefined ? undefined : { value: found[1].toUpperCase(), at: found.index }
}

export function findChannels(text: string): string | null {
  const [, channels, count = ''] = CHANNELS.exec(text) ?? []
  return channels ?? CHANNELS_OF_COUNT[count] ?? null
}

export function findResolution(text: string): Found | undefined {
  const found = RESOLUTION.exec(text)
  if (found?.[1] !== undefined) return { value: found[1].toLowerCase(), at: found.index }
  const uhd = UHD.exec(text)
  return uhd ? { value: '2160p', at: uhd.index } : undefined
}

function firstTag(tags: readonly Tag[], text: string): Found | undefined {
  for (const [value, pattern] of tags) {
    const found = pattern.exec(text)
    if (found) return { value, at: found.index }
  }
  return undefined
}

function allTags(tags: readonly Tag[], text: string): readonly Found[] {
  return tags.flatMap(([value, pattern]) => {
    const found = pattern.exec(text)
    return found ? [{ value, at: found.index }] : []
  })
}

/** Later years are part of a title. */
const LAST_YEAR = 2040

const YEAR = /(?<=^|[ (.[_-])(?:19|20)\d{2}(?=$|[ ).\],_-])/g
/** The range of a collection, such as `1990-2010`, is not a year. */
const YEARS = /\b(?:19|20)\d{2} ?- ?(?:19|20)\d{2}\b/g

const YEAR_FIRST = /\b((?:19|20)\d{2})([-. ])(\d{2})\2(\d{2})\b/
const YEAR_LAST = /\b(\d{2})([-. ])(\d{2})\2((?:19|20)\d{2})\b/

/** `2024.05.31`, `2024-05-31`, `31.05.2024` or `05.31.2024`, if the day exists. */
export function findAirDate(text: string): Found | undefined {
  const yearFirst = YEAR_FIRST.exec(text)
  if (yearFirst) {
    const [, year = '', , month = '', day = ''] = yearFirst
    const value = dayOf(year, month, day)
    return value === undefined ? undefined : { value, at: yearFirst.index }
  }
  const yearLast = YEAR_LAST.exec(text)
  if (yearLast === null) return undefined
  const [, one = '', , other = '', year = ''] = yearLast
  const value = dayOf(year, other, one) ?? dayOf(year, one, other)
  return value === undefined ? undefined : { value, at: yearLast.index }
}

/** The last year that is not at the very start: `2001.A.Title.1968` is from 1968. */
export function findYear(text: string, airDate: Found | undefined): { value: number; at: number } | undefined {
  if (airDate) return { value: Number(airDate.value.slice(0, 4)), at: airDate.at }
  const single = text.replace(YEARS, (range) => ' '.repeat(range.length))
  const last = [...single.matchAll(YEAR)].filter((match) => match.index > 0 && Number(match[0]) <= LAST_YEAR).at(-1)
  return last && { value: Number(last[0]), at: last.index }
}

function dayOf(year: string, month: string, day: string): string | undefined {
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  const value = date.toISOString().slice(0, 10)
  return value === `${year}-${month}-${day}` ? value : undefined
}
