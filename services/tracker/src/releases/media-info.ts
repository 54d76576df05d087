/** A video track as MediaInfo describes it. Null for what it does not say. */
export type VideoTrack = {
  readonly codec: string | null
  readonly width: number | null
  readonly height: number | null
  readonly resolution: string | null
  readonly hdr: string | null
  readonly frameRate: string | null
  readonly bitRate: string | null
}

export type AudioTrack = {
  readonly codec: string | null
  readonly channels: string | null
  readonly language: string | null
  readonly bitRate: string | null
  readonly title: string | null
}

export type SubtitleTrack = {
  readonly language: string | null
  readonly format: string | null
  readonly title: string | null
  readonly isForced: boolean
}

/** The tracks of a file. */
export type Media = {
  readonly container: string | null
  readonly duration: string | null
  readonly video: readonly VideoTrack[]
  readonly audio: readonly AudioTrack[]
  readonly subtitles: readonly SubtitleTrack[]
}

/** The maximum length of a text in characters; files with many subtitles need a third. */
export const MAX_MEDIA_INFO = 60_000

/** The maximum number of tracks per kind. */
const MAX_TRACKS = 100
const MAX_VALUE = 120

/** Lines with the path of the file, which may contain the name of its owner. */
const PATHS = /^((?:complete ?name|file_?name|folder ?name)[^:\n]*:)[^\n]*[\\/]/gim

/** The text without the folders of the file. */
export function withoutFolders(text: string): string {
  return text.replace(PATHS, '$1 ')
}

/** Reads the text output of MediaInfo; undefined if it has no tracks. */
export function parseMediaInfo(text: string): Media | undefined {
  const sections = text.split(/\n\s*\n/).map(readSection)
  const of = (kind: string) => sections.filter((section) => section.kind === kind).slice(0, MAX_TRACKS)
  const [general] = of('general')
  const media = {
    container: general?.get('format') ?? null,
    duration: general?.get('duration') ?? null,
    video: of('video').map(videoOf),
    audio: of('audio').map(audioOf),
    subtitles: of('text').map(subtitleOf),
  }
  return media.video.length + media.audio.length + media.subtitles.length === 0 ? undefined : media
}

type Section = { readonly kind: string; readonly get: (name: string) => string | null }

/** A heading such as `Audio #2`, and lines such as `Bit rate : 640 kb/s`. The first line of a name counts. */
function readSection(text: string): Section {
  const [heading = '', ...lines] = text.trim().split('\n')
  const values = new Map<string, string>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).trim().toLowerCase()
    const value = line.slice(colon + 1).trim()
    if (colon > 0 && value !== '' && !values.has(name)) values.set(name, value.slice(0, MAX_VALUE))
  }
  const kind = /^[a-z]+/.exec(heading.trim().toLowerCase())?.[0] ?? ''
  return { kind, get: (name) => values.get(name) ?? null }
}

const VIDEO_CODECS: Readonly<Record<string, string>> = { AVC: 'H.264', HEVC: 'H.265', 'MPEG Video': 'MPEG-2' }

function videoOf({ get }: Section): VideoTrack {
  const [width, height] = [pixelsOf(get('width')), pixelsOf(get('height'))]
  const encoder = /^x26[45]\b/.exec(get('writing library') ?? '')?.[0]
  const format = get('format')
  return {
    codec: encoder ?? (format && (VIDEO_CODECS[format] ?? format)),
    ...{ width, height },
    resolution: width === null || height === null ? null : resolutionOf(width, height, get('scan type')),
    hdr: hdrOf(get('hdr format'), get('transfer characteristics')),
    frameRate: get('frame rate'),
    bitRate: get('bit rate'),
  }
}

/** `1 920 pixels`, with any kind of space. */
function pixelsOf(text: string | null): number | null {
  const digits = text?.replace(/\D/g, '').slice(0, 6) ?? ''
  return digits === '' ? null : Number(digits)
}

const LINES = [480, 576, 720, 1080, 1440, 2160, 4320] as const

/** Films are cropped, so the width counts as well as the height. */
function resolutionOf(width: number, height: number, scan: string | null): string {
  const fits = LINES.find((lines) => height <= lines && width <= Math.ceil((lines * 16) / 9) + 8)
  return `${fits ?? height}${/interlaced|mbaff/i.test(scan ?? '') ? 'i' : 'p'}`
}

function hdrOf(format: string | null, transfer: string | null): string | null {
  const found = [
    /dolby vision/i.test(format ?? '') ? 'DV' : null,
    /2094 App 4|HDR10\+/i.test(format ?? '') ? 'HDR10+' : /HDR10|2086/i.test(format ?? '') ? 'HDR10' : null,
  ].filter((each) => each !== null)
  if (found.length > 0) return found.join(' ')
  if (/HLG/i.test(transfer ?? '')) return 'HLG'
  return /PQ/i.test(transfer ?? '') ? 'HDR' : null
}

const AUDIO_CODECS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/Atmos.*TrueHD|TrueHD.*Atmos/i, 'TrueHD Atmos'],
  [/Dolby TrueHD|^MLP/i, 'TrueHD'],
  [/DTS:X/i, 'DTS:X'],
  [/DTS-HD Master|DTS XLL/i, 'DTS-HD MA'],
  [/Digital Plus.*Atmos|E-AC-3 JOC/i, 'DDP Atmos'],
  [/Digital Plus|^E-AC-3/i, 'DDP'],
  [/^AC-3|Dolby Digital/i, 'DD'],
]

function audioOf({ get }: Section): AudioTrack {
  const format = get('format')
  const described = [get('commercial name'), format].find((text) => text !== null) ?? ''
  const channels = /\d+/.exec(get('channel(s)') ?? '')?.[0]
  return {
    codec: AUDIO_CODECS.find(([pattern]) => pattern.test(described))?.[1] ?? format,
    channels: channels === undefined ? null : (CHANNELS[channels] ?? `${channels} channels`),
    language: get('language'),
    bitRate: get('bit rate'),
    title: get('title'),
  }
}

const CHANNELS: Readonly<Record<string, string>> = { 1: '1.0', 2: '2.0', 6: '5.1', 7: '6.1', 8: '7.1' }

function subtitleOf({ get }: Section): SubtitleTrack {
  return {
    ...{ language: get('language'), format: get('format'), title: get('title') },
    isForced: get('forced')?.toLowerCase() === 'yes',
  }
}
