import type { ParameterReader } from './parameters.ts'

/** From and to are the same for a single one. */
export type NumberRange = { readonly from: number; readonly to: number }

/** Which episodes a TV search wants. */
export type WantedEpisode =
  /** Everything of these seasons: their packs and their episodes. Seasons may be years, such as 2024. */
  | { readonly kind: 'season'; readonly season: NumberRange }
  /** Without a season any season's, or an absolute number. */
  | { readonly kind: 'episode'; readonly season: NumberRange | undefined; readonly episode: NumberRange }
  /** `YYYY-MM-DD`, a day that exists. */
  | { readonly kind: 'airDate'; readonly date: string }

/**
 * Reads `season` and `ep` (Newznab Web API, "TV-SEARCH"): `1`, `01`, `S01`, `S01-S03`; `5`, `E05`, `E05-E07`,
 * `E05E06`. A daily show is asked for with the year as its season and `05/31` as its episode.
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

/** A day as `YYYY-MM-DD`; undefined for one that does not exist, such as 30 February. */
function dateOf(year: number, month: string, day: string): string | undefined {
  if (year < 1000) return undefined
  const date = new Date(Date.UTC(year, Number(month) - 1, Number(day)))
  return date.getUTCMonth() === Number(month) - 1 ? date.toISOString().slice(0, 10) : undefined
}
