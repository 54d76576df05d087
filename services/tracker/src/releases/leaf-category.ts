import { familyOfId } from '@vault-and-tracker/torznab-xml'
import type { ParsedRelease } from './release.ts'

/** The fields of a category that decide whether it fits. */
type Category = { readonly torznabId: number }

/** Torznab IDs of families. Games belong to PC in Torznab, but are a root here. */
const GAMES = 4050
const CONSOLE = 1000

const HD: ReadonlySet<string> = new Set(['720p', '1080i', '1080p', '1440p'])
const UHD: ReadonlySet<string> = new Set(['2160p', '4320p'])
const LOSSLESS: ReadonlySet<string> = new Set(['FLAC', 'ALAC', 'APE', 'DSD', 'WAV', 'PCM'])
const LOSSY: ReadonlySet<string> = new Set(['MP3', 'AAC', 'OGG', 'Opus'])

const CONSOLES: ReadonlyMap<string | null, readonly number[]> = new Map([
  ['PlayStation', [1180, CONSOLE]],
  ['Xbox', [1040, CONSOLE]],
  ['Nintendo', [CONSOLE]],
])
const CONSOLE_FORMATS: ReadonlySet<string> = new Set(['NSP', 'XCI'])
const MUSIC_SOURCES: ReadonlySet<string | null> = new Set(['CD', 'Vinyl', 'SACD'])
const BOOKS: ReadonlyMap<string | null, number> = new Map([
  ['comic', 7030],
  ['magazine', 7010],
  ['audiobook', 3030],
])

/** The Torznab IDs of the subcategories that fit a release, best first, by family. */
const LEAVES: Readonly<Record<number, (release: ParsedRelease) => readonly number[]>> = {
  2000: (film) => {
    const byPicture = pictureOf(film, { uhd: 2045, hd: 2040, sd: 2030 })
    return film.source === 'BluRay disc' ? [2050, film.resolution === null ? 2040 : byPicture] : [byPicture]
  },
  5000: (series) => {
    const byPicture = pictureOf(series, { uhd: 5045, hd: 5040, sd: 5030 })
    if (series.kind === 'anime') return [5070, byPicture]
    return series.kind === 'documentary' ? [5080, byPicture] : [byPicture]
  },
  3000: (music) => {
    if (music.kind === 'audiobook') return [3030]
    if (music.resolution !== null) return [3020]
    if (music.audio.some((format) => LOSSLESS.has(format))) return [3040]
    // Release groups name a format only if it is not MP3.
    const isMp3 = music.audio.some((format) => LOSSY.has(format)) || (music.source !== null && music.group !== null)
    return isMp3 ? [3010] : []
  },
  [GAMES]: ({ platform }) => CONSOLES.get(platform) ?? [GAMES],
  // Here 4020 is Windows and 4030 is macOS.
  4000: ({ platform }) => (platform === 'Windows' ? [4020] : platform === 'macOS' ? [4030] : []),
  7000: ({ kind }) => [BOOKS.get(kind) ?? 7020],
}

/**
 * The category for a release in a root: the child that fits the release, or else the root. Automation tools search `TV/HD`
 * rather than `TV`, and would not find releases in a root.
 *
 * @param children the subcategories of the root
 */
export function leafCategoryFor<C extends Category>(release: ParsedRelease, root: C, children: readonly C[]): C {
  const family = root.torznabId === GAMES ? GAMES : familyOfId(root.torznabId)
  const leaves = (family === undefined ? undefined : LEAVES[family]?.(release)) ?? []
  for (const id of leaves) {
    const child = children.find(({ torznabId }) => torznabId === id)
    if (child !== undefined) return child
  }
  return root
}

/** The Torznab ID of the root that fits a release; undefined if its name says too little. */
export function familyFor(release: ParsedRelease): number | undefined {
  const { kind, format, platform, resolution, source, codec, audio } = release
  if (kind === 'audiobook') return 3000
  if (resolution === null && format !== null && format !== 'ISO') return CONSOLE_FORMATS.has(format) ? GAMES : 7000
  if (CONSOLES.has(platform)) return GAMES
  if (platform !== null) return 4000
  const isNumbered = release.seasonFrom !== null || release.episodeFrom !== null || release.airDate !== null
  if (isNumbered || kind === 'anime') return 5000
  const isVideo = resolution !== null || (codec !== null && !LOSSLESS.has(codec) && !LOSSY.has(codec))
  if (isVideo) return 2000
  if (audio.length > 0 || MUSIC_SOURCES.has(source)) return 3000
  return source === null || source === 'WEB' ? undefined : 2000
}

/** Without a resolution, remuxes and discs are HD and everything else is SD. */
function pictureOf(
  { resolution, source }: ParsedRelease,
  ids: { readonly uhd: number; readonly hd: number; readonly sd: number },
): number {
  if (resolution !== null && UHD.has(resolution)) return ids.uhd
  const isHd = resolution === null ? source === 'Remux' || source === 'BluRay disc' : HD.has(resolution)
  return isHd ? ids.hd : ids.sd
}
