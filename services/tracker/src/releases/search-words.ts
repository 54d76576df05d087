import type { ParsedRelease, Release } from './release.ts'
import { indexTokens, initialsOf, queryTokens } from './search-tokens.ts'

/** A shorter beginning of a word would find nearly everything. */
const MIN_PREFIX = 2

/** A pack of more episodes is found by its season; no search is for one of them by a word. */
const MAX_NUMBERS = 200

/** A name and what is stored of it: the release, and the words of the search index. */
export type NameFields = { readonly name: string; readonly release: Release; readonly tokens: readonly string[] }

/** Derives the words from a name and what was read of it. */
export function nameFieldsOf(name: string, release: ParsedRelease): NameFields {
  return { name, release, tokens: releaseTokens(name, release) }
}

/** The words under which a release is found: those of its name, also as a search for that name spells them. */
export function releaseTokens(name: string, release: ParsedRelease): readonly string[] {
  const tokens = indexTokens(name, inOneSpelling(name), release.title ?? '')
  return [...new Set([...tokens, ...numberingTokens(release)])]
}

/**
 * The words that a release must have, in any order. Seasons and episodes are brought into the one spelling under which
 * releases are found: `1x05`, `S1E5`, `Season 1 Episode 5` all ask for `s01e05`. Empty when there is no word in it.
 */
export function searchWords(query: string): readonly string[] {
  return queryTokens(inOneSpelling(query))
}

/**
 * The words of a query, each with its alternatives: initials that a tool sends apart, as `M A S H` of `M*A*S*H`, may
 * be one word in a name.
 */
export function orInitials(words: readonly string[], query: string): readonly (readonly string[])[] {
  const runs = initialsOf(query)
  return words.map((word) => (word.length === 1 ? [word, ...runs.filter((run) => run.includes(word))] : [word]))
}

/** What a member's search asks for: words, and the beginning of one, since the last word may not be finished. */
export type MemberWords = {
  readonly words: readonly string[]
  /** A word begins with one of these; also found as whole words. Empty where all words are finished. */
  readonly prefixes: readonly string[]
}

/** The words of a member's search. The last of them is a beginning, unless it is a single letter. */
export function memberWords(query: string): MemberWords {
  const words = searchWords(query)
  const last = words.at(-1)
  return last === undefined || last.length < MIN_PREFIX || !/^[\p{L}\p{N}]+$/u.test(last)
    ? { words, prefixes: [] }
    : { words: words.slice(0, -1), prefixes: beginningsOf(last, query) }
}

/** `s01e1` may become `s01e12`, or be `s01e01` already, which has a digit more here than in the query. */
function beginningsOf(last: string, query: string): readonly string[] {
  const [, numbered] = /^(s(?:\d+e)?)\d+$/.exec(last) ?? []
  const [, typed] = /(\d+)\s*$/.exec(query) ?? []
  if (numbered === undefined || typed === undefined) return [last]
  const unfinished = `${numbered}${typed}`
  return last.startsWith(unfinished) ? [unfinished] : [unfinished, last]
}

function inOneSpelling(query: string): string {
  return query
    .replace(/\bseason[ .]?(\d{1,2})[ .,-]*episode[ .]?(\d{1,3})\b/gi, spelled)
    .replace(/\bs(\d{1,4})[ .]?e(\d{1,4})((?:[ .-]?e\d{1,4}|-\d{2,3})*)\b/gi, allSpelled)
    .replace(/\b(\d{1,2})x(\d{2,3})\b/gi, spelled)
    .replace(/\bseason[ .]?(\d{1,2})\b/gi, (_, season: string) => seasonToken(Number(season)))
    .replace(/\bs(\d{1,2})\b/gi, (_, season: string) => seasonToken(Number(season)))
}

/** Several episodes of a season: `S01E05E06`, `S01E05-E06`, `S01E05-06`. */
function allSpelled(_: string, season: string, episode: string, others: string): string {
  return [episode, ...(others.match(/\d+/g) ?? [])].map((each) => spelled(_, season, each)).join(' ')
}

function spelled(_: string, season: string, episode: string): string {
  return episodeToken(Number(season), Number(episode))
}

/** The one spelling under which an episode is found by words, `s01e05`. */
function episodeToken(season: number, episode: number): string {
  return `${seasonToken(season)}e${twoDigits(episode)}`
}

/** The one spelling under which a season is found by words, `s01`. */
function seasonToken(season: number): string {
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
