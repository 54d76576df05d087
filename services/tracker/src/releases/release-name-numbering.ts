/** Both ends are inclusive, and equal for a single number. */
export type Range = readonly [from: number, to: number]

/** Seasons, episodes or absolute numbers, and their position in the name, if known. */
export type Numbering = {
  readonly at: number | undefined
  readonly seasons?: Range
  readonly episodes?: Range
  readonly absolute?: Range
}

/** The numbers that the library found. */
export type FoundNumbers = { readonly seasons: readonly number[]; readonly episodes: readonly number[] }

/** S01E02, S01E02E03, S01E02-E05, S01E02-05, S01.E02, S01E02+E03, and several of these, such as S01E01 - S01E03. */
const EPISODES = /\bS(\d{1,4})[. _-]?E(\d{1,4})((?:[. _]?[-+]?[. _]?E\d{1,4})*)(-\d{1,4}(?![\dpi]))?/gi
/** 1x02, 1x02-05 */
const CROSSED = /\b(\d{1,2})x(\d{2,3})(?:-(?:\d{1,2}x)?(\d{2,3}))?\b/i
/** S01, Season 1, Seasons 1-3, 2nd Season, Saison 2, 2 сезон, Сезон: 2 */
const SEASON_MARK =
  /(?<![\p{L}\p{N}])(?:S\d{1,2}\b|(?:Seasons?|Saison|Staffel|Stagione|Temporada|сезон)[ .:]*\d|\d{1,2}(?:st|nd|rd|th)[ .]Season|\d{1,2}[ .]сезон)/iu

/**
 * The numbering of a name. Common, unambiguous spellings are parsed here. The library parses the many others; its result
 * counts only if a marker shows that the number is an episode.
 *
 * @param isAnime whether the name starts with a group in brackets, after which a bare number is an episode
 */
export function numberingOf(text: string, found: FoundNumbers, isAnime: boolean): Numbering | undefined {
  return explicitEpisodes(text) ?? crossedEpisodes(text) ?? counted(text) ?? foundNumbering(text, found, isAnime)
}

function explicitEpisodes(text: string): Numbering | undefined {
  const matches = [...text.matchAll(EPISODES)]
  const [first] = matches
  if (first === undefined) return undefined
  const season = Number(first[1])
  const numbers = matches
    .filter((match) => Number(match[1]) === season)
    .flatMap(([, , one = '', more = '', last = '']) => [one, ...`${more} ${last}`.split(/\D+/)])
    .filter((digits) => digits !== '')
    .map(Number)
  return { at: first.index, seasons: [season, season], episodes: [Math.min(...numbers), Math.max(...numbers)] }
}

function crossedEpisodes(text: string): Numbering | undefined {
  const crossed = CROSSED.exec(text)
  if (crossed === null) return undefined
  const [, season = '', from = '', to = from] = crossed
  return {
    at: crossed.index,
    seasons: [Number(season), Number(season)],
    episodes: ordered([Number(from), Number(to)]),
  }
}

/** 第07話 */
function counted(text: string): Numbering | undefined {
  const found = /第 ?(\d{1,4}) ?[话話集回]/.exec(text)
  return found ? { at: found.index, absolute: [Number(found[1]), Number(found[1])] } : undefined
}

function foundNumbering(text: string, found: FoundNumbers, isAnime: boolean): Numbering | undefined {
  const [seasons, episodes] = [rangeOf(found.seasons, 9_999), rangeOf(found.episodes, 99_999)]
  if (seasons) {
    const at = SEASON_MARK.exec(text)?.index
    return episodes ? { at, seasons, episodes } : { at, seasons }
  }
  if (episodes === undefined) return undefined
  const at = absoluteMark(text, episodes[0], isAnime)
  return at === undefined ? undefined : { at, absolute: episodes }
}

/** The position of `- 07`, `[07]`, `(01-12)`, `E07` or `Episode 07`; numbers that may be years only in anime. */
function absoluteMark(text: string, number: number, isAnime: boolean): number | undefined {
  if (!isAnime && number >= 1900) return undefined
  const before = `(?: - ?|[[(#]|\\bE|\\bEp(?:isode)?s?[ .]?${isAnime ? '| ' : ''})`
  const mark = new RegExp(`${before}0*${number}(?:v\\d)?(?![a-z0-9]|\\.\\d(?!\\d))`, 'i').exec(text)
  return mark?.index
}

function rangeOf(numbers: readonly number[], most: number): Range | undefined {
  const usable = numbers.filter((number) => Number.isInteger(number) && number >= 0 && number <= most)
  return usable.length > 0 ? [Math.min(...usable), Math.max(...usable)] : undefined
}

function ordered([a, b]: Range): Range {
  return a <= b ? [a, b] : [b, a]
}
