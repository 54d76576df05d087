import { type AnyOf, allOf, type Criteria } from './criteria.ts'
import type { SearchStatements } from './statements.ts'

const MAX_SUGGESTIONS = 10

/** Words that can have similar ones; numbers and short words resemble too many others. */
const SIMILAR = /^[^0-9]{4,40}$/u

/** The condition of the partial index of `search_words`, which Postgres uses only if the text is identical. */
export const SIMILAR_WORDS = `'${SIMILAR.source}'`

function isSimilarWord(token: string): boolean {
  return SIMILAR.test(token)
}

/** Replaces a prefix of few words with these words, which the index finds faster. */
export async function wordCriteria(
  statements: SearchStatements,
  words: readonly AnyOf[],
  prefixes: AnyOf,
): Promise<Pick<Criteria, 'words' | 'prefixes'>> {
  if (prefixes.length === 0) return { words, prefixes }
  const known = await Promise.all(prefixes.map((prefix) => statements.wordsWithPrefix(prefix)))
  return known.includes(undefined)
    ? { words, prefixes }
    : { words: [...words, known.flatMap((found) => found ?? [])], prefixes: [] }
}

/**
 * Torrents with similar words, newest first, unless listed names contain all of these words, which means that none is a
 * typo. Tokens such as `s01e05` are searched for unchanged, and ignored if nothing matches them.
 */
export async function suggest(
  statements: SearchStatements,
  within: Criteria,
  tokens: readonly string[],
): Promise<readonly string[]> {
  const words = tokens.filter(isSimilarWord)
  const found = await statements.similarWords(words)
  const areAllKnown = words.every((word, i) => found[i]?.includes(word) === true)
  if (areAllKnown && (await areListed(statements, within, words))) return []
  const similar = found.filter((alternatives) => alternatives.length > 0)
  if (similar.length === 0) return []
  const others = tokens.filter((token) => !isSimilarWord(token)).map((token) => [token])
  for (const wanted of others.length === 0 ? [similar] : [[...similar, ...others], similar]) {
    const ids = await statements.some({ ...within, words: wanted }, MAX_SUGGESTIONS)
    if (ids.length > 0) return ids
  }
  return []
}

/** Whether each word is in a listed name. The index of words also contains those of deleted names. */
async function areListed(
  statements: SearchStatements,
  { state }: Criteria,
  words: readonly string[],
): Promise<boolean> {
  for (const word of words) {
    if (!(await statements.matchesAny({ ...allOf(state), words: [[word]] }))) return false
  }
  return true
}
