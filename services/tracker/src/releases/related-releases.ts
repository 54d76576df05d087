import type { Release } from './release.ts'
import { MUSIC_CODECS } from './release-name-tags.ts'
import { wordsOf } from './search-words.ts'

/** The fields of a torrent that relate it to others. */
export type KnownRelease = {
  readonly release: Release
  /** Ids in databases of films and series. */
  readonly externalIds: Readonly<Record<'imdb' | 'tmdb' | 'tvdb', number | null>>
}

/** What another torrent of the same title is to a release. A pack is a season that contains its episode. */
export const RELATIONS = ['duplicate', 'replaced', 'replacement', 'pack', 'version'] as const
export type Relation = (typeof RELATIONS)[number]

/** What the catalogue says about a new release. `covered` means by a pack of the same slot. */
export const VERDICTS = ['duplicate', 'covered', 'replaces'] as const
export type Verdict = (typeof VERDICTS)[number]

/** Packs of more seasons are found only by the first ones. */
const MAX_SEASONS = 50

/**
 * The keys of a release. Releases of the same content share one: its title, or an id, with its season and episode. A pack
 * also has a key for each of its seasons.
 */
export function releaseKeys(known: KnownRelease): readonly string[] {
  const { seasonFrom, seasonTo } = known.release
  const seasons = isPack(known.release) ? range(seasonFrom ?? 0, seasonTo ?? 0) : []
  const contents = [contentOf(known.release), ...seasons.map(packOf)]
  return titlesOf(known).flatMap((title) => contents.map((content) => `${title} ${content}`))
}

/** The keys that releases of the same content share. */
export function contentKeys(known: KnownRelease): readonly string[] {
  return titlesOf(known).map((title) => `${title} ${contentOf(known.release)}`)
}

/** The keys of which a related release has at least one. */
export function relatedKeys(known: KnownRelease): readonly string[] {
  const { seasonFrom } = known.release
  const packs = seasonFrom === null ? [] : titlesOf(known).map((title) => `${title} ${packOf(seasonFrom)}`)
  return [...contentKeys(known), ...packs]
}

/** What `other`, which shares a key, is to a release; undefined if their ids or contents differ. */
export function relationOf(known: KnownRelease, other: KnownRelease): Relation | undefined {
  const [one, two] = [known.release, other.release]
  if (!areSameTitle(known, other)) return undefined
  if (contentOf(one) !== contentOf(two)) return covers(two, one) ? 'pack' : undefined
  if (!isSameSlot(one, two)) return 'version'
  if (improves(one, two)) return 'replaced'
  return improves(two, one) ? 'replacement' : 'duplicate'
}

/** The verdict on a new release from all related ones. */
export function verdictOn(
  { release }: KnownRelease,
  related: readonly { readonly relation: Relation; readonly release: Release }[],
): Verdict | undefined {
  const has = (relation: Relation): boolean => related.some((each) => each.relation === relation)
  if (has('duplicate') || has('replacement')) return 'duplicate'
  if (related.some((each) => each.relation === 'pack' && isSameSlot(release, each.release))) return 'covered'
  return has('replaced') ? 'replaces' : undefined
}

/** Spellings of the same codec or source. */
const SAME: Readonly<Record<string, string>> = { x264: 'H.264', x265: 'H.265', WEB: 'WEB-DL' }

/** Whether releases have the same resolution, source, codec, HDR and edition. False if the first three are all unknown. */
function isSameSlot(one: Release, two: Release): boolean {
  const isKnown = one.resolution !== null || one.source !== null || one.codec !== null
  return isKnown && slotOf(one) === slotOf(two)
}

function slotOf({ resolution, source, codec, hdr, editions }: Release): string {
  const spelled = [source, codec].map((value) => value && (SAME[value] ?? value))
  return JSON.stringify([resolution, spelled, hdr.toSorted(), editions.toSorted()])
}

/** A PROPER replaces the release of any group, a REPACK that of its own. */
function improves(one: Release, two: Release): boolean {
  const isSameGroup = one.group?.toLowerCase() === two.group?.toLowerCase()
  return (one.isProper && !two.isProper) || (one.isRepack && !two.isRepack && isSameGroup)
}

/** Ids decide if both have the same kind of id, else the title. */
function areSameTitle(one: KnownRelease, two: KnownRelease): boolean {
  for (const kind of ['imdb', 'tvdb', 'tmdb'] as const) {
    const [id, other] = [one.externalIds[kind], two.externalIds[kind]]
    if (id !== null && other !== null) return id === other
  }
  return titleOf(one.release) === titleOf(two.release)
}

function titlesOf({ release, externalIds: { imdb, tmdb, tvdb } }: KnownRelease): readonly string[] {
  const title = titleOf(release)
  return [
    ...(title === undefined ? [] : [title]),
    ...(imdb === null ? [] : [`imdb:${imdb}`]),
    ...(tvdb === null ? [] : [`tvdb:${tvdb}`]),
    // TMDB numbers films and series separately.
    ...(tmdb === null ? [] : [`tmdb:${isSeries(release) ? 'series' : 'film'}:${tmdb}`]),
  ]
}

/** The kind, words and year of a title; undefined if the name has none. */
function titleOf(release: Release): string | undefined {
  const words = wordsOf(release.title ?? '').join(' ')
  // The year of a daily show is that of the episode.
  const year = release.airDate === null ? (release.year ?? '') : ''
  return words === '' ? undefined : `${kindOf(release)}:${words}:${year}`
}

function kindOf(release: Release): string {
  const { resolution, source, codec } = release
  if (isSeries(release)) return 'series'
  const isMusic =
    resolution === null && (MUSIC_CODECS.has(codec ?? '') || ['CD', 'Vinyl', 'SACD'].includes(source ?? ''))
  if (isMusic) return 'music'
  return resolution === null && source === null && codec === null ? 'other' : 'film'
}

function isSeries({ seasonFrom, episodeFrom, absoluteFrom, airDate }: Release): boolean {
  return seasonFrom !== null || episodeFrom !== null || absoluteFrom !== null || airDate !== null
}

function isPack({ seasonFrom, episodeFrom, airDate }: Release): boolean {
  return seasonFrom !== null && episodeFrom === null && airDate === null
}

/** Whether a pack contains the seasons of another release. */
function covers(pack: Release, { seasonFrom, seasonTo }: Release): boolean {
  const { seasonFrom: first, seasonTo: last } = pack
  return isPack(pack) && seasonFrom !== null && (first ?? 0) <= seasonFrom && (last ?? 0) >= (seasonTo ?? seasonFrom)
}

/** The part of a title that a release contains: season and episode, date, or everything. */
function contentOf(release: Release): string {
  const { seasonFrom, seasonTo, episodeFrom, episodeTo, absoluteFrom, absoluteTo, airDate } = release
  const numbers = [seasonFrom, seasonTo, episodeFrom, episodeTo, absoluteFrom, absoluteTo].map((each) => each ?? '')
  return airDate ?? numbers.join('.')
}

function packOf(season: number): string {
  return `pack ${season}`
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: Math.min(to - from + 1, MAX_SEASONS) }, (_, i) => from + i)
}
