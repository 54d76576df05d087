import { filenameParse } from '@ctrl/video-filename-parser'
import { parseTorrentTitle } from '@viren070/parse-torrent-title'
import { parseReleaseName } from '../src/releases/release-name.ts'
import type { ExpectedRelease } from '../tests/data/release-names.ts'

/**
 * Reads a name into the words of our table; what a library does not tell is left out.
 *
 * @param isSeries what the uploader would say; only one of the libraries has to be told
 */
type Reader = (name: string, isSeries: boolean) => Partial<ExpectedRelease>

/** Absolute numbers are those without a season; neither library tells them apart. */
function numbersOf(seasons: readonly number[] = [], episodes: readonly number[] = []): Partial<ExpectedRelease> {
  const from = (numbers: readonly number[]): number | null => (numbers.length > 0 ? Math.min(...numbers) : null)
  const to = (numbers: readonly number[]): number | null => (numbers.length > 0 ? Math.max(...numbers) : null)
  const isAbsolute = seasons.length === 0
  return {
    seasonFrom: from(seasons),
    seasonTo: to(seasons),
    episodeFrom: isAbsolute ? null : from(episodes),
    episodeTo: isAbsolute ? null : to(episodes),
    absoluteFrom: isAbsolute ? from(episodes) : null,
    absoluteTo: isAbsolute ? to(episodes) : null,
  }
}

const SOURCES: Readonly<Record<string, string>> = {
  'BluRay REMUX': 'Remux',
  REMUX: 'Remux',
  BDRip: 'BluRay',
  BRRip: 'BluRay',
  BLURAY: 'BluRay',
  DVDRip: 'DVD',
  'DVD REMUX': 'DVD',
  TeleSync: 'TS',
  TELESYNC: 'TS',
  TeleCine: 'TC',
  TELECINE: 'TC',
  SCREENER: 'SCR',
  WEBDL: 'WEB-DL',
  WEBRIP: 'WEBRip',
  PDTV: 'HDTV',
  SATRip: 'HDTV',
  TVRip: 'HDTV',
  TV: 'HDTV',
}
const CODECS: Readonly<Record<string, string>> = {
  hevc: 'H.265',
  h265: 'H.265',
  h264: 'H.264',
  avc: 'H.264',
  av1: 'AV1',
  xvid: 'XviD',
  mpeg2: 'MPEG-2',
  'vc-1': 'VC-1',
}
const AUDIO: Readonly<Record<string, string>> = { AC3: 'DD', EAC3: 'DDP', OPUS: 'Opus', 'DTS Lossy': 'DTS' }

const renamed = (names: Readonly<Record<string, string>>, value: string | undefined): string | null =>
  value === undefined ? null : (names[value] ?? value)
const numberOf = (text: string | null | undefined): number | null =>
  text == null || !/^\d+$/.test(text) ? null : Number(text)

const readWithPtt: Reader = (name) => {
  const read = parseTorrentTitle(name)
  return {
    title: read.title || null,
    year: numberOf(read.year),
    ...numbersOf(read.seasons, read.episodes),
    airDate: read.date ?? null,
    resolution: read.resolution?.replace('4k', '2160p') ?? null,
    source: renamed(SOURCES, read.quality),
    codec: renamed(CODECS, read.codec),
    group: read.group ?? null,
    hdr: read.hdr ?? [],
    audio: (read.audio ?? []).map((audio) => AUDIO[audio] ?? audio),
    channels: read.channels?.[0] ?? null,
    languages: (read.languages ?? []).map((language) => (/^(?:multi|dual) /.test(language) ? 'mul' : language)),
    isProper: read.proper === true,
    isRepack: read.repack === true,
  }
}

const readWithCtrl: Reader = (name, isSeries) => {
  const read = filenameParse(name, isSeries)
  return {
    title: read.title || null,
    year: numberOf(read.year),
    ...('seasons' in read ? numbersOf(read.seasons, read.episodeNumbers) : numbersOf()),
    airDate: ('airDate' in read ? read.airDate?.toISOString().slice(0, 10) : null) ?? null,
    resolution: read.resolution?.toLowerCase() ?? null,
    source: renamed(SOURCES, read.sources[0]),
    codec: read.videoCodec ?? null,
    group: read.group ?? null,
    channels: read.audioChannels ?? null,
  }
}

export const READERS: Readonly<Record<string, Reader>> = {
  ours: parseReleaseName,
  '@viren070/parse-torrent-title': readWithPtt,
  '@ctrl/video-filename-parser': readWithCtrl,
}
