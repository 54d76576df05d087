import type { ParsedRelease, Release } from './release.ts'

/** Shorter prefixes would match nearly everything. */
const MIN_PREFIX = 2

/** Larger packs are found by their season; no search looks for one of their episodes by a word. */
const MAX_NUMBERS = 200

/** The stored fields of a name: the release and the words of the search index. */
export type NameFields = { readonly name: string; readonly release: Release; readonly tokens: readonly string[] }

/** Adds the indexed words to a parsed name. */
export function nameFieldsOf(name: string, release: ParsedRelease): NameFields {
  return { name, release, tokens: releaseTokens(name, release) }
}

/** The words that find a release: those of its name, in the spelling of the name and of a search for it. */
export function releaseTokens(name: string, release: ParsedRelease): readonly string[] {
  const tokens = indexTokens(name, inOneSpelling(name), release.title ?? '')
  return [...new Set([...tokens, ...numberingTokens(release)])]
}

/**
 * The words that a release must contain, in any order. Seasons and episodes are normalised: `1x05`, `S1E5` and
 * `Season 1 Episode 5` all become `s01e05`. Empty if the query contains no word.
 */
export function searchWords(query: string): readonly string[] {
  return queryTokens(inOneSpelling(query))
}

/**
 * The words of a query with their alternatives. Initials that a tool separates, such as `M A S H` for `M*A*S*H`, may be
 * one word in a name.
 */
export function orInitials(words: readonly string[], query: string): readonly (readonly string[])[] {
  const runs = initialsOf(query)
  return words.map((word) => (word.length === 1 ? [word, ...runs.filter((run) => run.includes(word))] : [word]))
}

/** The words of a member's search. The last one may be unfinished. */
export type MemberWords = {
  readonly words: readonly string[]
  /** A word must begin with one of these; empty if all words are finished. */
  readonly prefixes: readonly string[]
}

/** The words of a member's search. The last one is a prefix, unless it is a single letter. */
export function memberWords(query: string): MemberWords {
  const words = searchWords(query)
  const last = words.at(-1)
  return last === undefined || last.length < MIN_PREFIX || !/^[\p{L}\p{N}]+$/u.test(last)
    ? { words, prefixes: [] }
    : { words: words.slice(0, -1), prefixes: beginningsOf(last, query) }
}

/** `s01e1` may become `s01e12`, or already mean `s01e01`, which has one digit more than the query. */
function beginningsOf(last: string, query: string): readonly string[] {
  const [, numbered] = /^(s(?:\d+e)?)\d+$/.exec(last) ?? []
  const [, typed] = /(\d+)\s*$/.exec(query) ?? []
  if (numbered === undefined || typed === undefined) return [last]
  const unfinished = `${numbered}${typed}`
  return last.startsWith(unfinished) ? [unfinished] : [unfinished, last]
}

/** A word, or quoted words, after a hyphen, as in `-x264`. In a release name, no space is before the hyphen. */
const EXCLUSION = /(?<=^|\s)-(?:["“”„][^"“”„]*["“”„]?|(?=[\p{L}\p{N}])\S+)/gu

const MAX_EXCLUSIONS = 20

/** Splits a member's search into the text to search for and the words to exclude, which a name must not all contain. */
export function splitExclusions(query: string): { readonly text: string; readonly without: readonly AllOf[] } {
  const exclusions = (query.match(EXCLUSION) ?? []).map(searchWords).filter((words) => words.length > 0)
  return { text: query.replace(EXCLUSION, ' '), without: exclusions.slice(0, MAX_EXCLUSIONS) }
}

type AllOf = readonly string[]

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

/** The normalised spelling of an episode, `s01e05`. */
function episodeToken(season: number, episode: number): string {
  return `${seasonToken(season)}e${twoDigits(episode)}`
}

/** The normalised spelling of a season, `s01`. */
function seasonToken(season: number): string {
  return `s${twoDigits(season)}`
}

/**
 * The words that the numbering of a release adds to those of its name: every season and episode in the normalised
 * spelling, and absolute numbers with one, two and three digits, because applications send `07`.
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

/** Further words of a query are ignored. */
const MAX_QUERY_TOKENS = 20

/** Longer words are cut, both in names and in queries. */
const MAX_TOKEN_LENGTH = 100

/** Letters without a Unicode decomposition that people type differently, folded as Postgres' `unaccent` does. */
const FOLDED: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ı: 'i',
  ŧ: 't',
  þ: 'th',
}
const FOLDED_LETTERS = new RegExp(`[${Object.keys(FOLDED).join('')}]`, 'gu')

/** Scripts without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+/u
const UNSPACED_OR_WORD = new RegExp(`${UNSPACED.source}|[^\\s]+?(?=${UNSPACED.source}|\\s|$)`, 'gu')

/** Ignored in a query that contains other words. */
const FILLERS = new Set(['the', 'a', 'an', 'and'])

/**
 * The words that find a name. Release names replace spaces with dots and often omit accents and apostrophes, so text is
 * folded before it is split. Initials are also joined: `swat` finds `S.W.A.T.`.
 */
export function indexTokens(...texts: readonly string[]): readonly string[] {
  const tokens = new Set<string>()
  for (const text of texts) {
    const words = wordsOf(text)
    for (const token of [...words.flatMap(indexForms), ...joinedInitials(words)]) tokens.add(cut(token))
  }
  return [...tokens]
}

/**
 * The words that a name must contain to match a query. Empty if the query contains no word, which matches every name.
 */
export function queryTokens(query: string): readonly string[] {
  const words = wordsOf(query)
  const telling = words.filter((word) => !FILLERS.has(word))
  const tokens = (telling.length > 0 ? telling : words).flatMap(queryForms)
  return [...new Set(tokens.map(cut))].slice(0, MAX_QUERY_TOKENS)
}

/** The joined initials of a text: `mash` for `M A S H`. */
function initialsOf(text: string): readonly string[] {
  return joinedInitials(wordsOf(text))
}

/** Cuts text to a length in UTF-16 units, never inside a surrogate pair, because Postgres refuses half of one in JSON. */
export function cutText(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')
}

function cut(token: string): string {
  return cutText(token, MAX_TOKEN_LENGTH)
}

/**
 * Lowercase, without accents, apostrophes and invisible characters such as soft hyphens; `&` becomes a word; split at
 * everything that is not a letter or digit.
 */
export function wordsOf(text: string): readonly string[] {
  const folded = text
    .normalize('NFKD')
    .toLowerCase()
    // Latin, Greek and Cyrillic marks only, because those of other scripts carry meaning.
    .replace(/[\u0300-\u036f]|\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/['`´‘’ʼʻ′]/g, '')
    .replace(/&/g, ' and ')
    .replace(FOLDED_LETTERS, (letter) => FOLDED[letter] ?? letter)
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
  return folded.match(UNSPACED_OR_WORD) ?? []
}

function isUnspaced(word: string): boolean {
  return UNSPACED.test(word)
}

/** Text without spaces is indexed by its characters and pairs of neighbours. */
function indexForms(word: string): readonly string[] {
  return isUnspaced(word) ? [...Array.from(word), ...pairsOf(word)] : [word]
}

function queryForms(word: string): readonly string[] {
  if (!isUnspaced(word)) return [word]
  const pairs = pairsOf(word)
  return pairs.length > 0 ? pairs : [word]
}

function pairsOf(word: string): readonly string[] {
  const characters = Array.from(word)
  return characters.slice(1).map((character, i) => `${characters[i] ?? ''}${character}`)
}

/** Each run of initials as one word, and again without an `a` or `i` at either end. */
function joinedInitials(words: readonly string[]): readonly string[] {
  const runs = ` ${words.join(' ')} `.match(/(?<= )(?:[a-z] ){2,}/g)?.map((run) => run.replaceAll(' ', '')) ?? []
  return runs.flatMap((run) => [
    run,
    ...[run.replace(/^[ai]/, ''), run.replace(/[ai]$/, '')].filter(isShorterThan(run)),
  ])
}

function isShorterThan(run: string): (part: string) => boolean {
  return (part) => part.length > 1 && part.length < run.length
}
