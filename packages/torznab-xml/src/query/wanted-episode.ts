import type { ParameterReader } from './parameters.ts'

/** For a single number, both ends are equal. */
export type NumberRange = { readonly from: number; readonly to: number }

/** The requested episodes of a TV search. */
export type WantedEpisode =
  /** Packs and episodes of these seasons. Seasons may be years, such as 2024. */
  | { readonly kind: 'season'; readonly season: NumberRange }
  /** Without a season, episodes of any season, or absolute numbers. */
  | { readonly kind: 'episode'; readonly season: NumberRange | undefined; readonly episode: NumberRange }
  /** A valid date as `YYYY-MM-DD`. */
  | { readonly kind: 'airDate'; readonly date: string }

/**
 * Parses `season` and `ep` (Newznab Web API, "TV-SEARCH"): `1`, `01`, `S01`, `S01-S03`; `5`, `E05`, `E05-E07`,
 * `E05E06`. For a daily show, the season is the year and the episode a day such as `05/31`.
 */
export function readWantedEpisode(parameters: ParameterReader): WantedEpisode | undefined {
  const season = parameters.read('season', parseSeason)
  const day = parameters.text('ep')?.match(/^(\d{1,2})\/(\d{1,2})$/)
  if (day) {
    const [, month = '', dayOfMonth = ''] = day
    const date = season === undefined || season.from !== season.to ? undefined : dateOf(season.from, month, dayOfMonth)
    if (date === undefined) parameters.refuse('ep')
    return date === undefined ? undefined : { kind: 'airDate', date }
  }
  const episode = parameters.read('ep', parseEpisode)
  if (episode !== undefined) return { kind: 'episode', season, episode }
  return season && { kind: 'season', season }
}

function parseSeason(text: string): NumberRange | undefined {
  return rangeOf(/^S?(\d{1,4})(?:-S?(\d{1,4}))?$/i.exec(text))
}

function parseEpisode(text: string): NumberRange | undefined {
  return rangeOf(/^E?(\d{1,5})(?:(?:-E?|E)(\d{1,5}))?$/i.exec(text))
}

function rangeOf(match: RegExpExecArray | null): NumberRange | undefined {
  if (match === null) return undefined
  const from = Number(match[1])
  const to = Number(match[2] ?? from)
  return from <= to ? { from, to } : undefined
}

/** Formats a day as `YYYY-MM-DD`; undefined for invalid ones, such as 30 February. */
function dateOf(year: number, month: string, day: string): string | undefined {
  if (year < 1000) return undefined
  const date = new Date(Date.UTC(year, Number(month) - 1, Number(day)))
  return date.getUTCMonth() === Number(month) - 1 ? date.toISOString().slice(0, 10) : undefined
}
