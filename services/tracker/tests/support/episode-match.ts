import type { NumberRange, WantedEpisode } from '@vault-and-tracker/torznab-xml'
import type { ParsedRelease } from '../../src/releases/release.ts'
import { mayBeAbsolute } from '../../src/search/criteria.ts'

/** The numbering of a release. */
export type Numbered = Pick<
  ParsedRelease,
  'seasonFrom' | 'seasonTo' | 'episodeFrom' | 'episodeTo' | 'absoluteFrom' | 'absoluteTo' | 'airDate'
>

/** Higher seasons are years. */
const FIRST_YEAR = 1900

/** Whether a release is, or contains, what a TV search wants: the reference for `episodeFacets`. */
export function matchesEpisode(release: Numbered, wanted: WantedEpisode): boolean {
  switch (wanted.kind) {
    case 'season':
      return overlaps(release.seasonFrom, release.seasonTo, wanted.season) || airedWithin(release, wanted.season)
    case 'episode':
      return isEpisode(release, wanted.season, wanted.episode)
    case 'airDate':
      return release.airDate === wanted.date
  }
}

function isEpisode(release: Numbered, season: NumberRange | undefined, episode: NumberRange): boolean {
  const isOfSeason = season === undefined || overlaps(release.seasonFrom, release.seasonTo, season)
  if (isOfSeason && overlaps(release.episodeFrom, release.episodeTo, episode)) return true
  return mayBeAbsolute(season) && overlaps(release.absoluteFrom, release.absoluteTo, episode)
}

function airedWithin({ airDate }: Numbered, years: NumberRange): boolean {
  if (airDate === null || years.from < FIRST_YEAR) return false
  const year = Number(airDate.slice(0, 4))
  return year >= years.from && year <= years.to
}

function overlaps(from: number | null, to: number | null, wanted: NumberRange): boolean {
  return from !== null && to !== null && from <= wanted.to && to >= wanted.from
}
