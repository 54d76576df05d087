import type { ParsedRelease } from './release.ts'

/** A pack of more episodes is found by its season; nobody asks for one of them by a word. */
const MAX_NUMBERS = 200

/** The one spelling under which an episode is found by words, `s01e05`. */
export function episodeToken(season: number, episode: number): string {
  return `${seasonToken(season)}e${twoDigits(episode)}`
}

/** The one spelling under which a season is found by words, `s01`. */
export function seasonToken(season: number): string {
  return `s${twoDigits(season)}`
}

/**
 * The words that the numbering of a release adds to those of its name: every season and episode in the one spelling,
 * whatever the name's is, and absolute numbers with one, two and three digits, as applications send `07`.
 */
export function numberingTokens(release: ParsedRelease): readonly string[] {
  const { seasonFrom, seasonTo, episodeFrom, episodeTo, absoluteFrom, absoluteTo } = release
  const seasons = numbersFrom(seasonFrom, seasonTo)
  const episodes = seasons.length === 1 ? numbersFrom(episodeFrom, episodeTo) : []
  return [
    ...seasons.map(seasonToken),
    ...episodes.map((episode) => episodeToken(seasons[0] ?? 0, episode)),
    ...numbersFrom(absoluteFrom, absoluteTo).flatMap((number) => [1, 2, 3].map((digits) => padded(number, digits))),
  ].filter((token, i, all) => all.indexOf(token) === i)
}

function numbersFrom(from: number | null, to: number | null): readonly number[] {
  if (from === null || to === null) return []
  return Array.from({ length: Math.min(to - from + 1, MAX_NUMBERS) }, (_, i) => from + i)
}

function padded(number: number, digits: number): string {
  return String(number).padStart(digits, '0')
}

function twoDigits(number: number): string {
  return padded(number, 2)
}
