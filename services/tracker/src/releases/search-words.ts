import { episodeToken, numberingTokens, seasonToken } from './numbering-tokens.ts'
import type { ParsedRelease } from './release.ts'
import { indexTokens, queryTokens } from './search-tokens.ts'

/** A shorter beginning of a word would find nearly everything. */
const MIN_PREFIX = 2

/** The words under which a release is found. */
export function releaseTokens(name: string, release: ParsedRelease): readonly string[] {
  return [...new Set([...indexTokens(name, release.title ?? ''), ...numberingTokens(release)])]
}

/**
 * The words that a release must have, in any order. Seasons and episodes are brought into the one spelling under which
 * releases are found: `1x05`, `S1E5`, `Season 1 Episode 5` all ask for `s01e05`. Empty when there is no word in it.
 */
export function searchWords(query: string): readonly string[] {
  return queryTokens(inOneSpelling(query))
}

/** What a member's search asks for: words, and the beginning of one, since the last word may not be finished. */
export type MemberWords = {
  readonly words: readonly string[]
  /** Also found as a whole word, being its own beginning. */
  readonly prefix: string | undefined
}

/** The words of a member's search. The last of them is a beginning, unless it is a single letter. */
export function memberWords(query: string): MemberWords {
  const words = searchWords(query)
  const last = words.at(-1)
  return last === undefined || last.length < MIN_PREFIX || !/^[\p{L}\p{N}]+$/u.test(last)
    ? { words, prefix: undefined }
    : { words: words.slice(0, -1), prefix: last }
}

function inOneSpelling(query: string): string {
  return query
    .replace(/\bseason[ .]?(\d{1,2})[ .,-]*episode[ .]?(\d{1,3})\b/gi, spelled)
    .replace(/\bs(\d{1,4})[ .]?e(\d{1,4})\b/gi, spelled)
    .replace(/\b(\d{1,2})x(\d{2,3})\b/gi, spelled)
    .replace(/\bseason[ .]?(\d{1,2})\b/gi, (_, season: string) => seasonToken(Number(season)))
    .replace(/\bs(\d{1,2})\b/gi, (_, season: string) => seasonToken(Number(season)))
}

function spelled(_: string, season: string, episode: string): string {
  return episodeToken(Number(season), Number(episode))
}
