import type { Release } from '../api/client.ts'

/** The year, season, episode, date and group that the name contains. */
export function numbering(release: Release): readonly (readonly [label: string, value: string])[] {
  const { year, seasonFrom, seasonTo, episodeFrom, episodeTo, absoluteFrom, absoluteTo, airDate, group } = release
  const entries: readonly (readonly [string, string | null])[] = [
    ['Year', year === null ? null : String(year)],
    ['Season', range(seasonFrom, seasonTo)],
    ['Episode', range(episodeFrom, episodeTo) ?? range(absoluteFrom, absoluteTo)],
    ['Aired', airDate],
    ['Group', group],
  ]
  return entries.flatMap(([label, value]) => (value === null ? [] : [[label, value] as const]))
}

function range(from: number | null, to: number | null): string | null {
  if (from === null) return null
  return to === null || to === from ? String(from) : `${from}–${to}`
}
